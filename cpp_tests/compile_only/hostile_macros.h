/* Macros of Unreal, windows.h, Xlib, Qt and Apple's headers that share names with ordinary identifiers. Each breaks the
   compile where it is expanded. Standard headers come first, as they do in a host: not all of them survive this. */
#ifdef __cplusplus
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>
#else
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#endif

#define HOSTILE @ this macro must not be expanded @

/* Not all compilers start without these. */
#undef min
#undef max
#undef linux
#undef unix

/* Unreal: CoreMinimal.h. */
#define check HOSTILE
#define checkf HOSTILE
#define checkCode HOSTILE
#define checkSlow HOSTILE
#define checkfSlow HOSTILE
#define checkNoEntry HOSTILE
#define checkNoReentry HOSTILE
#define checkNoRecursion HOSTILE
#define verify HOSTILE
#define verifyf HOSTILE
#define verifySlow HOSTILE
#define ensure HOSTILE
#define ensureMsgf HOSTILE
#define ensureAlways HOSTILE
#define ensureAlwaysMsgf HOSTILE
#define unimplemented HOSTILE
#define TEXT HOSTILE
#define TCHAR_TO_UTF8 HOSTILE
#define UTF8_TO_TCHAR HOSTILE
#define PI HOSTILE
#define INV_PI HOSTILE
#define HALF_PI HOSTILE
#define TWO_PI HOSTILE
#define SMALL_NUMBER HOSTILE
#define BIG_NUMBER HOSTILE
#define DELTA HOSTILE
#define UE_LOG HOSTILE
#define FORCEINLINE HOSTILE
#define FORCENOINLINE HOSTILE
#define LIKELY HOSTILE
#define UNLIKELY HOSTILE
#define RESTRICT HOSTILE
#define OVERRIDE HOSTILE
#define FINAL HOSTILE
#define ABSTRACT HOSTILE
#define PURE_VIRTUAL HOSTILE
#define LINE_TERMINATOR HOSTILE
#define INDEX_NONE HOSTILE
#define GENERATED_BODY HOSTILE
#define UCLASS HOSTILE
#define USTRUCT HOSTILE
#define UENUM HOSTILE
#define UPROPERTY HOSTILE
#define UFUNCTION HOSTILE
#define LOCTEXT HOSTILE
#define STAT HOSTILE
#define CA_SUPPRESS HOSTILE
#define ARRAY_COUNT HOSTILE
#define PLATFORM_WINDOWS HOSTILE
#define PRAGMA_DISABLE_OPTIMIZATION HOSTILE

/* windows.h and its friends. */
#define min HOSTILE
#define max HOSTILE
#define near HOSTILE
#define far HOSTILE
#define NEAR HOSTILE
#define FAR HOSTILE
#define small HOSTILE
#define hyper HOSTILE
#define interface HOSTILE
#define cdecl HOSTILE
#define pascal HOSTILE
#define CONST HOSTILE
#define VOID HOSTILE
#define IN HOSTILE
#define OUT HOSTILE
#define OPTIONAL HOSTILE
#define BOOL HOSTILE
#define TRUE HOSTILE
#define FALSE HOSTILE
#define STRICT HOSTILE
#define DELETE HOSTILE
#define ERROR HOSTILE
#define NO_ERROR HOSTILE
#define IGNORE HOSTILE
#define ABSOLUTE HOSTILE
#define RELATIVE HOSTILE
#define TRANSPARENT HOSTILE
#define OPAQUE HOSTILE
#define CALLBACK HOSTILE
#define WINAPI HOSTILE
#define APIENTRY HOSTILE
#define THIS HOSTILE
#define Yield HOSTILE
#define GetObject HOSTILE
#define GetMessage HOSTILE
#define GetCurrentTime HOSTILE
#define GetClassName HOSTILE
#define GetUserName HOSTILE
#define SendMessage HOSTILE
#define PostMessage HOSTILE
#define ReportEvent HOSTILE
#define FormatMessage HOSTILE
#define LoadLibrary HOSTILE
#define LoadImage HOSTILE
#define DrawText HOSTILE
#define FindText HOSTILE
#define CreateFile HOSTILE
#define CreateDirectory HOSTILE
#define CreateEvent HOSTILE
#define CreateMutex HOSTILE
#define CreateWindow HOSTILE
#define DeleteFile HOSTILE
#define CopyFile HOSTILE
#define MoveFile HOSTILE
#define ReplaceFile HOSTILE
#define RemoveDirectory HOSTILE
#define UpdateResource HOSTILE
#define MemoryBarrier HOSTILE
#define PROFILE_USER HOSTILE
#define DIFFERENCE HOSTILE
#define SEVERITY_ERROR HOSTILE
#define FACILITY_STORAGE HOSTILE
#define OVERFLOW HOSTILE
#define UNDERFLOW HOSTILE
#define DOMAIN HOSTILE

/* X.h, Xlib.h and Xutil.h. */
#define Bool HOSTILE
#define Status HOSTILE
#define True HOSTILE
#define False HOSTILE
#define None HOSTILE
#define Success HOSTILE
#define Always HOSTILE
#define NotUseful HOSTILE
#define WhenMapped HOSTILE
#define Complex HOSTILE
#define Convex HOSTILE
#define Nonconvex HOSTILE
#define Above HOSTILE
#define Below HOSTILE
#define TopIf HOSTILE
#define BottomIf HOSTILE
#define Opposite HOSTILE
#define CursorShape HOSTILE
#define TileShape HOSTILE
#define StippleShape HOSTILE
#define ParentRelative HOSTILE
#define CopyFromParent HOSTILE
#define AnyKey HOSTILE
#define AnyButton HOSTILE
#define CurrentTime HOSTILE
#define NoSymbol HOSTILE
#define KeyPress HOSTILE
#define KeyRelease HOSTILE
#define ButtonPress HOSTILE
#define FocusIn HOSTILE
#define FocusOut HOSTILE
#define Expose HOSTILE
#define Unsorted HOSTILE
#define YSorted HOSTILE
#define DestroyAll HOSTILE
#define RetainPermanent HOSTILE
#define GrayScale HOSTILE
#define TrueColor HOSTILE
#define DirectColor HOSTILE
#define InputOutput HOSTILE
#define InputOnly HOSTILE
#define LineSolid HOSTILE
#define FillSolid HOSTILE
#define ControlMask HOSTILE
#define BadValue HOSTILE
#define ScreenCount HOSTILE

/* Qt, Apple's AssertMacros.h and Objective-C, C libraries. */
#define signals HOSTILE
#define slots HOSTILE
#define emit HOSTILE
#define foreach HOSTILE
#define forever HOSTILE
#define require HOSTILE
#define verify_noerr HOSTILE
#define nil HOSTILE
#define Nil HOSTILE
#define YES HOSTILE
#define NO HOSTILE
#define major HOSTILE
#define minor HOSTILE
#define makedev HOSTILE
#define linux HOSTILE
#define unix HOSTILE
#define DEBUG HOSTILE
#define OK HOSTILE
#define FAILED HOSTILE
#define SUCCEEDED HOSTILE

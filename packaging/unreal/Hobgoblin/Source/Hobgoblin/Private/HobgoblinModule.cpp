#include "Hobgoblin.h"

#include "HAL/PlatformProcess.h"
#include "Interfaces/IPluginManager.h"
#include "Misc/Paths.h"

DEFINE_LOG_CATEGORY_STATIC(LogHobgoblin, Log, All);

namespace
{
	// Runs on any thread. `Line` ends in NUL.
	void WriteLog(void*, hob_log_level Level, hob_str Line)
	{
		const FString Text = UTF8_TO_TCHAR(Line.data);
		switch (Level)
		{
		case HOB_LOG_LEVEL_ERROR: UE_LOG(LogHobgoblin, Error, TEXT("%s"), *Text); break;
		case HOB_LOG_LEVEL_WARNING: UE_LOG(LogHobgoblin, Warning, TEXT("%s"), *Text); break;
		case HOB_LOG_LEVEL_INFO: UE_LOG(LogHobgoblin, Log, TEXT("%s"), *Text); break;
		default: UE_LOG(LogHobgoblin, Verbose, TEXT("%s"), *Text); break;
		}
	}

	// Empty where the loader has loaded the library with this module.
	FString LibraryFile()
	{
#if PLATFORM_WINDOWS
		return TEXT("Binaries/ThirdParty/HobgoblinLibrary/Win64/hobgoblin.dll");
#elif PLATFORM_MAC
		return TEXT("Binaries/ThirdParty/HobgoblinLibrary/Mac/libhobgoblin.0.dylib");
#else
		return FString();
#endif
	}
}

class FHobgoblinModule final : public IHobgoblin
{
public:
	virtual void StartupModule() override
	{
		const FString File = LibraryFile();
		if (!File.IsEmpty())
		{
			const FString Folder = IPluginManager::Get().FindPlugin(TEXT("Hobgoblin"))->GetBaseDir();
			const FString Path = FPaths::Combine(Folder, File);
			Library = FPlatformProcess::GetDllHandle(*Path);
			if (Library == nullptr)
			{
				UE_LOG(LogHobgoblin, Error, TEXT("cannot load %s"), *Path);
				return;
			}
		}
		if (hob_abi_version() != HOB_ABI_VERSION)
		{
			UE_LOG(LogHobgoblin, Error, TEXT("the library has ABI version %u, and the headers have %u: install one release of both"),
				hob_abi_version(), HOB_ABI_VERSION);
			return;
		}
		bIsLoaded = true;
		hob_log_hook Hook = HOB_LOG_HOOK_INIT;
		Hook.write = WriteLog;
		if (hob_set_log_hook(&Hook) != HOB_RESULT_OK)
		{
			UE_LOG(LogHobgoblin, Warning, TEXT("the log of the library is not received"));
		}
	}

	virtual void ShutdownModule() override
	{
		if (bIsLoaded)
		{
			(void)hob_set_log_hook(nullptr);
			bIsLoaded = false;
		}
		if (Library != nullptr)
		{
			FPlatformProcess::FreeDllHandle(Library);
			Library = nullptr;
		}
	}

	virtual bool IsLibraryLoaded() const override
	{
		return bIsLoaded;
	}

private:
	void* Library = nullptr;
	bool bIsLoaded = false;
};

IMPLEMENT_MODULE(FHobgoblinModule, Hobgoblin)

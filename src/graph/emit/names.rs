//! Names in C source that compile in any dialect of C, and in C++.

/// Names that C, C++ or their compilers have taken: keywords, functions of the library whose types GCC knows, and macros.
/// Other functions of the library are free: the source includes only `string.h` and the headers of hobgoblin.
const RESERVED: &str = "\
    abort abs acos acosh alignas aligned_alloc alignof alloca and and_eq asin asinh asm atan atan2 atanh auto bcmp \
    bcopy bitand bitor bool break bzero cabs cacos cacosh calloc carg case casin casinh catan catanh catch cbrt \
    ccos ccosh ceil cexp char cimag class clog clog10 co_await co_return co_yield compl concept conj const \
    const_cast consteval constexpr constinit continue copysign cos cosh cpow cproj creal csin csinh csqrt ctan \
    ctanh dcgettext decltype default defined delete dgettext do double drem dynamic_cast else enum erf erfc execl \
    execle execlp execv execve execvp exit exp exp10 exp2 explicit explicit_bzero expm1 export extern fabs false \
    fdim feclearexcept fegetenv fegetexceptflag fegetround feholdexcept feraiseexcept fesetenv fesetexceptflag \
    fesetround fetestexcept feupdateenv ffs ffsimax finite float floor fma fmax fmin fmod for fork fprintf fputc \
    fputs free frexp friend fscanf fwrite gamma gettext goto hypot i386 if ilogb imaxabs index inline int isalnum \
    isalpha isascii isblank iscntrl isdigit isgraph isinf islower isnan isprint ispunct isspace isupper iswalnum \
    iswalpha iswblank iswcntrl iswdigit iswgraph iswlower iswprint iswpunct iswspace iswupper iswxdigit isxdigit \
    j0 j1 jn labs ldexp lgamma linux llabs llrint llround log log10 log1p log2 logb long lrint lround main malloc \
    memccpy memchr memcmp memcpy memfrob memmem memmove mempcpy memrchr memset memset_explicit modf mutable \
    namespace nan nearbyint new nextafter nexttoward noexcept not not_eq nullptr offsetof operator or or_eq \
    posix_memalign pow pow10 printf private protected public putc putchar puts rawmemchr realloc register \
    reinterpret_cast remainder remquo requires restrict return rindex rint round roundeven scalb scalbln scalbn \
    scanf short signbit signed significand sin sincos sinh sizeof snprintf sprintf sqrt sscanf static \
    static_assert static_cast stpcpy stpncpy strcasecmp strcasestr strcat strchr strchrnul strcmp strcoll strcpy \
    strcspn strdup strerror strfmon strfry strftime strlcat strlcpy strlen strncasecmp strncat strncmp strncpy \
    strndup strnlen strpbrk strrchr strsep strsignal strspn strstr strtok struct strverscmp strxfrm swab switch \
    tan tanh template tgamma this thread_local throw toascii tolower toupper towlower towupper true trunc try \
    typedef typeid typename typeof typeof_unqual union unix unreachable unsigned using vfprintf vfscanf virtual \
    void volatile vprintf vscanf vsnprintf vsprintf vsscanf while xor xor_eq y0 y1 yn";
/// Endings of variants of the functions above.
const VARIANTS: [&str; 17] = [
    "f",
    "l",
    "f16",
    "f32",
    "f32x",
    "f64",
    "f64x",
    "f128",
    "d32",
    "d64",
    "d128",
    "ll",
    "_l",
    "_r",
    "f_r",
    "l_r",
    "_unlocked",
];
/// Endings of the types and macros of `stdint.h`, and of POSIX types.
const ENDINGS: [&str; 5] = ["_t", "_MAX", "_MIN", "_C", "_WIDTH"];
/// Longest part of a node's name in a constant.
const LONGEST: usize = 60;

/// Why a text is no name for a function or a prefix of the host. `None`: it is one.
pub fn fault(text: &str) -> Option<&'static str> {
    let is_start = |byte: u8| byte.is_ascii_alphabetic();
    let is_inner = |byte: u8| is_start(byte) || byte.is_ascii_digit() || byte == b'_';
    if text.starts_with('_') || text.contains("__") {
        return Some("C reserves names with an underscore at the start, and C++ those with two in a row");
    }
    if !text.bytes().next().is_some_and(is_start) || !text.bytes().all(is_inner) {
        return Some("it must be an identifier of C: letters, digits and underscores, without a digit at the start");
    }
    if text.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("hob"))
        && matches!(text.as_bytes().get(3), None | Some(b'_'))
    {
        return Some("names that start with hob_ are those of the library");
    }
    let is_reserved = |name: &str| RESERVED.split(' ').any(|reserved| reserved == name);
    let is_variant = |ending: &str| text.strip_suffix(ending).is_some_and(is_reserved);
    let is_taken = is_reserved(text) || text == "NULL" || ENDINGS.iter().any(|ending| text.ends_with(ending));
    (is_taken || VARIANTS.iter().any(|ending| is_variant(ending)))
        .then_some("it is a name of C, C++ or their libraries")
}

/// The name of a node as the end of an identifier.
pub fn tail(name: &str) -> impl Iterator<Item = char> + Clone + '_ {
    name.bytes().take(LONGEST).map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte) } else { '_' })
}

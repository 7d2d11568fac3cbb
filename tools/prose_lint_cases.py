"""The self-test of prose_lint.py: for each rule, text that it must report and text that it must accept."""

LONG = " ".join(["word"] * 31)
FITS = " ".join(["word"] * 30)
BLOCK = "\n".join(["/// The cache holds ten words in each of these lines."] * 8)

# rule, file name, text, how often the rule must report it.
CASES = [
    # long-sentence
    ("long-sentence", "a.md", LONG + ".", 1),
    ("long-sentence", "a.md", FITS + ".", 0),
    ("long-sentence", "a.md", FITS.replace(" ", "\n") + "\n" + FITS + ".", 1),
    ("long-sentence", "a.md", FITS + ". " + FITS + ".", 0),
    ("long-sentence", "a.md", FITS + "\n\n" + FITS, 0),
    ("long-sentence", "a.md", "- " + FITS + "\n- " + FITS, 0),
    ("long-sentence", "a.md", f"{FITS[10:]} e.g. words. {FITS}", 0),
    ("long-sentence", "a.md", f"Call x.y.z, {FITS}.", 1),
    ("long-sentence", "a.md", "`" + LONG + "` is one word.", 0),
    ("long-sentence", "a.md", "```\n" + LONG + "\n```\n", 0),
    ("long-sentence", "a.md", "| " + LONG + " |\n", 0),
    ("long-sentence", "a.md", "<!-- " + LONG + " -->\n", 0),
    ("long-sentence", "a.rs", f'let text = "// {LONG}";\n', 0),
    ("long-sentence", "a.rs", f'let text = r#"" // {LONG}"#; // Short.\n', 0),
    ("long-sentence", "a.rs", f"fn a<'a>() {{}} // {LONG}\n", 1),
    ("long-sentence", "a.cpp", f"auto text = R\"x(// {LONG})x\";\n", 0),
    ("long-sentence", "a.cpp", f"int n = 1'000; // {LONG}\n", 1),
    ("long-sentence", "a.c", "/* " + LONG.replace(" ", "\n * ", 3) + " */\n", 1),
    ("long-sentence", "a.rs", f"/// {FITS}\n// {FITS}\n", 0),
    ("long-sentence", "a.h", f"///     hob_call({LONG});\n", 0),
    ("long-sentence", "a.h", f"/// Example:\n///     hob_call({LONG});\n", 0),
    ("long-sentence", "a.h", f"/// @code\n/// {LONG}\n/// @endcode\n", 0),
    # clause-subject
    ("clause-subject", "a.md", "What they answer is checked.", 1),
    ("clause-subject", "a.md", "The end. Who asks must wait.", 1),
    ("clause-subject", "a.md", "Whoever asks waits. Whatever it holds stays.", 2),
    ("clause-subject", "a.md", "That which is missing is built.", 1),
    ("clause-subject", "a.md", "Only where a use begins is anything written.", 1),
    ("clause-subject", "a.md", "Of which the first is used.", 1),
    ("clause-subject", "a.md", "Threads: what they ask is answered.", 1),
    ("clause-subject", "a.md", "It waits; what is late is dropped.", 1),
    ("clause-subject", "a.md", "It waits until it is clear\nwhat is late.", 0),
    ("clause-subject", "a.md", "What does it cost?", 0),
    ("clause-subject", "a.md", "- What it holds is dropped.", 1),
    ("clause-subject", "a.md", "Results are verified. Bad data counts as a miss.", 0),
    ("clause-subject", "a.rs", "// The `what` parameter names the argument.", 0),
    ("clause-subject", "a.rs", "/// What is left.", 1),
    # relative-clause
    ("relative-clause", "a.md", "A shader failed, of which the cache knew.", 1),
    ("relative-clause", "a.md", "The thread by whom it is held, and the size of what it holds.", 1),
    ("relative-clause", "a.md", "Sort them in the order in which they were added.", 0),
    # is-none
    ("is-none", "a.md", "A burden of -1 is none.", 1),
    ("is-none", "a.md", "None is the default. There are none.", 1),
    ("is-none", "a.md", "None of them is valid.", 0),
    # tell-of
    ("tell-of", "a.md", "The log tells of it.", 1),
    ("tell-of", "a.md", "The log tells the host.", 0),
    # let-go-of
    ("let-go-of", "a.md", "Lets go of the file.", 1),
    ("let-go-of", "a.md", "Let it go on.", 0),
    # as-it-is
    ("as-it-is", "a.md", "Leaves the file as it is.", 1),
    ("as-it-is", "a.md", "Use the size as it is in the header.", 0),
    # of-those-that
    ("of-those-that", "a.md", "The first of those that fit.", 1),
    ("of-those-that", "a.md", "The first of those.", 0),
    # vague
    ("vague", "a.md", "Beside that only files are read, and what else there is.", 1),
    ("vague", "a.md", "The handle stands beside the other.", 0),
    # idiom
    ("idiom", "a.md", "The samples that came in are news.", 1),
    ("idiom", "a.md", "The process is gone.", 1),
    ("idiom", "a.md", "The left lane is empty.", 0),
    ("idiom", "a.md", "This is no live hob_goblin.", 1),
    ("idiom", "a.md", "It overlaps no live block.", 0),
    ("idiom", "a.md", "It took the process down.", 1),
    # Messages
    ("idiom", "a.rs", 'error!(Io, "the file is gone: \\"{path}\\"");\n', 1),
    ("idiom", "a.cpp", 'fail("the file is gone");\n', 1),
    ("idiom", "a.rs", 'error!(Io, "the file is missing: {gone}");\n', 0),
    ("idiom", "a.rs", 'const BYTES: &[u8] = b"the file is gone";\n', 0),
    ("idiom", "a.rs", 'source("let a = b; // it is gone\\n    let c;\\n");\n', 0),
    ("clause-subject", "a.rs", 'assert!(ok, "what is written can be read");\n', 1),
    ("clause-subject", "a.rs", 'assert!(ok, "{what} is NULL: pass {expected}");\n', 0),
    ("as-it-is", "a.rs", 'log("the file stays \\\n    as it is");\n', 1),
    # test-name
    ("test-name", "a.rs", "#[test]\nfn what_is_put_is_got() {}\n", 1),
    ("test-name", "a.rs", "#[test]\n#[cfg(unix)]\n// Why.\nfn of_those_that_fit_one_is_got() {}\n", 1),
    ("test-name", "a.rs", "#[test]\nfn pools_come_and_go() {}\n", 1),
    ("test-name", "a.rs", "#[test]\nfn get_returns_a_stored_value() {}\nfn what_is_put() {}\n", 0),
    ("test-name", "a.rs", "#[test]\nfn rejected_loop_releases_nothing() {}\n", 0),
    ("test-name", "a.rs", "#[test]\nfn mutation_of_which_byte() {}\n", 0),
    ("test-name", "a.cpp", 'TEST("store: what is put is got") {\n}\n', 1),
    ("test-name", "a.cpp", 'TEST("store: a read-only cache writes nothing, and says so") {\n}\n', 1),
    ("test-name", "a.cpp", 'TEST("store: a stored value is returned") {\n}\n', 0),
    # double-space
    ("double-space", "a.md", "Two  spaces.", 1),
    ("double-space", "a.md", "One space.", 0),
    ("double-space", "a.md", "`a  b` is code.", 0),
    # long-block
    ("long-block", "a.h", BLOCK + "\n/// And one word more.\n", 1),
    ("long-block", "a.h", BLOCK + "\nint a;\n/// And one word more.\nint b;\n", 0),
    ("long-block", "a.h", BLOCK + "\n///\n/// And one word more.\n", 0),
    ("long-block", "a.h", BLOCK + "\n/// # Heading\n/// And one word more.\n", 0),
    ("long-block", "a.rs", BLOCK + "\n/// And one word more.\n", 0),
    # summary
    ("summary", "a.h", "/// Add a setting.\n/// Returns its id. Threads: exclusive.\nint a;\n", 0),
    ("summary", "a.h", "/// Add a setting\n/// to the goblin.\nint a;\n", 1),
    ("summary", "a.h", "/// Add a setting. Returns its id.\nint a;\n", 1),
    ("summary", "a.h", "/// Add a setting\nint a;\n", 1),
    ("summary", "a.h", "struct a {\n    /// The limit. Default 0.\n    int a;\n};\n", 0),
    ("summary", "a.h", "struct a {\n    /// The limit of\n    /// a lane.\n    int a;\n};\n", 1),
    ("summary", "a.h", "/// Add e.g. a setting, as `a.b` does.\nint a;\n", 0),
    ("summary", "a.h", "/** Add a setting. */\nint a;\n", 0),
    ("summary", "a.h", "/** Add a setting */\nint a;\n", 1),
    ("summary", "a.h", "// No doc comment\nint a;\n", 0),
    ("summary", "a.rs", "/// Add a setting\n", 0),
    # lower-case
    ("lower-case", "a.h", "/// the limit.\n", 1),
    ("lower-case", "a.h", "/// The limit. default 0.\n", 1),
    ("lower-case", "a.h", "/// The limit, e.g. of a lane.\n", 0),
    ("lower-case", "a.h", "/// sizeof(hob_estimate). `count` is 1. hob_lane is an enum. user_data is passed on.\n", 0),
    ("lower-case", "a.h", "/// Names have '/', '.' and '-'.\n", 0),
    ("lower-case", "a.h", "}  // namespace hob\n", 0),
    ("lower-case", "a.rs", "/// the limit.\n", 0),
]


def run(lint, rules):
    """Run the cases; 0 if all hold and every rule has a good and a bad one."""
    wrong = 0
    for rule, name, text, expected in CASES:
        found = [one for one in lint(name, text) if one[1] == rule]
        if len(found) != expected:
            wrong += 1
            print(f"{rule} must report {expected} times, reported {len(found)} times:\n{text}\n")
    for rule in rules:
        for kind, is_there in (("bad", any(case[0] == rule and case[3] for case in CASES)),
                               ("good", any(case[0] == rule and not case[3] for case in CASES))):
            if not is_there:
                wrong += 1
                print(f"{rule} has no {kind} case")
    print(f"prose_lint: {len(CASES) - wrong} of {len(CASES)} cases hold")
    return int(wrong > 0)

//! The declarations of the checked-in headers as a table: functions, structs, enums, handles, constants and their docs.
//!
//! cbindgen generates the headers, so they are regular. The parser skips nothing: unknown syntax is a panic with file
//! and line.

use std::collections::BTreeMap;
use std::fs;

/// A C type, without the declared name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// `uint32_t`, `hob_goblin`, `void`; for a callback its result type.
    pub base: String,
    /// Whether the pointee is const.
    pub is_const: bool,
    /// Number of asterisks.
    pub pointers: usize,
    /// Parameters of the function if this is a function pointer.
    pub callback: Option<Vec<Parameter>>,
}

/// A parameter of a function, or of a callback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub of: Type,
}

/// A field of a struct.
#[derive(Clone, Debug)]
pub struct Field {
    pub name: String,
    pub of: Type,
    /// Number of elements if the field is an array.
    pub array: Option<usize>,
    pub doc: String,
    /// The type of the elements if the field is a stride that the header's initialiser sets.
    pub stride_of: Option<String>,
}

/// The place of a declaration.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The header without its extension.
    pub header: String,
    /// The title of the section.
    pub section: String,
}

impl Place {
    /// Whether the section is experimental.
    pub fn is_experimental(&self) -> bool {
        self.section.starts_with("Experimental:")
    }
}

/// A struct with fields, or a union.
#[derive(Clone, Debug)]
pub struct Struct {
    pub name: String,
    pub is_union: bool,
    pub fields: Vec<Field>,
    pub doc: String,
    pub place: Place,
    pub at: String,
}

impl Struct {
    /// Whether the struct is versioned: its first field is `uint32_t struct_size`.
    pub fn is_versioned(&self) -> bool {
        self.fields.first().is_some_and(|field| field.name == "struct_size" && field.of.base == "uint32_t")
    }

    /// Whether the struct is an id, such as a hob_setting_id.
    pub fn is_id(&self) -> bool {
        self.fields.iter().map(|field| field.name.as_str()).eq(["index1", "generation"])
    }
}

/// An enum.
#[derive(Clone, Debug)]
pub struct Enum {
    pub name: String,
    pub values: Vec<(String, i64)>,
    pub doc: String,
    /// The docs of the values.
    pub value_docs: Vec<String>,
    pub place: Place,
    pub at: String,
}

/// An opaque type with its doc.
#[derive(Clone, Debug)]
pub struct Handle {
    pub name: String,
    pub doc: String,
    pub place: Place,
}

/// A macro with a number.
#[derive(Clone, Debug)]
pub struct Macro {
    pub name: String,
    pub value: u64,
    pub doc: String,
    pub place: Place,
}

/// A function with its doc.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub result: Type,
    pub parameters: Vec<Parameter>,
    /// Whether it may change at any release (HOB_EXPERIMENTAL_API).
    pub is_experimental: bool,
    /// Whether a compiler warns if the result is not used (HOB_NODISCARD).
    pub is_must_use: bool,
    pub doc: String,
    pub place: Place,
    /// File and line.
    pub at: String,
}

impl Function {
    /// The doc on one line, without its examples, which are indented.
    pub fn prose(&self) -> String {
        let lines = self.doc.lines().filter(|line| !line.starts_with("    "));
        lines.map(str::trim).collect::<Vec<&str>>().join(" ")
    }

    /// The text of the doc after `Threads:`, up to the next label or the end.
    pub fn threads(&self) -> &str {
        let after = self.doc.split("Threads:").nth(1).unwrap_or_default();
        after.split("Callbacks:").next().unwrap_or_default().trim()
    }
}

/// All declarations of the headers.
#[derive(Default)]
pub struct Api {
    pub functions: Vec<Function>,
    pub structs: Vec<Struct>,
    pub enums: Vec<Enum>,
    /// Names of opaque types.
    pub handles: Vec<String>,
    /// Declarations of opaque types, in order.
    pub handle_docs: Vec<Handle>,
    /// Numeric macros, in order.
    pub macros: Vec<Macro>,
    /// Names of the headers, and the summaries in their first lines.
    pub headers: Vec<(String, String)>,
    /// Type aliases: `typedef uint32_t hob_x;`.
    pub aliases: BTreeMap<String, Type>,
    /// Values of numeric macros.
    pub constants: BTreeMap<String, i64>,
}

impl Api {
    /// Parses `include/hobgoblin/*.h`.
    pub fn read() -> Self {
        let folder = super::cpp::root().join("include/hobgoblin");
        let list = fs::read_dir(&folder).unwrap_or_else(|why| panic!("cannot list {}: {why}", folder.display()));
        let mut paths: Vec<_> = list.map(|entry| entry.expect("an entry can be read").path()).collect();
        paths.retain(|path| path.extension().is_some_and(|found| found == "h"));
        paths.sort();
        let mut api = Self::default();
        for path in paths {
            let text = fs::read_to_string(&path).unwrap_or_else(|why| panic!("cannot read {}: {why}", path.display()));
            let name = path.file_stem().expect("a header has a name").to_string_lossy().into_owned();
            api.add(&name, &text);
        }
        let defined = |api: &Self, name: &str| api.structs.iter().any(|one| one.name == name);
        api.handles = api.handles.iter().filter(|name| !defined(&api, name)).cloned().collect();
        api.handles.sort();
        api.handles.dedup();
        // An enum that is passed as an integer of a fixed size is an enum and an alias of that name.
        api.aliases.retain(|name, _| !api.enums.iter().any(|one| one.name == *name));
        api
    }

    /// Adds one header.
    pub fn add(&mut self, header: &str, text: &str) {
        let prefix = format!("// hobgoblin/{header}.h: ");
        let summary = text.lines().next().and_then(|line| line.strip_prefix(&prefix)).unwrap_or_default();
        self.headers.push((header.to_owned(), summary.to_owned()));
        let tokens = tokens(header, text, self);
        let place = Place { header: header.to_owned(), section: String::new() };
        Reader { api: self, header, tokens, next: 0, doc: String::new(), place }.declarations();
    }

    pub fn find_struct(&self, name: &str) -> Option<&Struct> {
        self.structs.iter().find(|one| one.name == name)
    }

    pub fn find_enum(&self, name: &str) -> Option<&Enum> {
        self.enums.iter().find(|one| one.name == name)
    }

    pub fn find_function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|one| one.name == name)
    }

    pub fn is_handle(&self, name: &str) -> bool {
        self.handles.iter().any(|one| one == name)
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Sign(char),
    /// A line of a doc comment.
    Doc(String),
    /// The title of a section.
    Section(String),
}

/// Splits a header into tokens. Drops preprocessor directives and the text under `#ifdef __cplusplus`.
fn tokens(header: &str, text: &str, api: &mut Api) -> Vec<(Token, usize)> {
    let mut found = Vec::new();
    let mut place = Place { header: header.to_owned(), section: String::new() };
    // Whether the text under each open #if is active.
    let mut conditions: Vec<bool> = Vec::new();
    let mut is_continued = false;
    let mut is_comment = false;
    for (number_of_line, line) in text.lines().enumerate().map(|(number, line)| (number + 1, line.trim())) {
        if is_comment {
            is_comment = !line.ends_with("*/");
            continue;
        }
        if is_continued || line.starts_with('#') {
            if !is_continued {
                directive(line, &mut conditions);
                if let Some((name, value)) = number(line) {
                    let doc = doc_above(&mut found, number_of_line);
                    api.constants.extend(i64::try_from(value).ok().map(|value| (name.to_owned(), value)));
                    api.macros.push(Macro { name: name.to_owned(), value, doc, place: place.clone() });
                }
            }
            is_continued = line.ends_with('\\');
            continue;
        }
        if conditions.contains(&false) {
            continue;
        }
        if let Some(doc) = line.strip_prefix("///") {
            found.push((Token::Doc(doc.strip_prefix(' ').unwrap_or(doc).trim_end().to_owned()), number_of_line));
            continue;
        }
        if let Some(title) = line.strip_prefix("// ---- ") {
            place.section = title.trim_end_matches('-').trim().to_owned();
            found.push((Token::Section(place.section.clone()), number_of_line));
            continue;
        }
        if line.starts_with("/*") {
            assert!(!line.contains("*/") || line.ends_with("*/"), "{header}.h:{number_of_line}: code after a comment");
            is_comment = !line.ends_with("*/");
            continue;
        }
        words(line.split("//").next().unwrap_or_default(), number_of_line, header, &mut found);
    }
    found
}

/// Name and value of a macro that is a number.
fn number(line: &str) -> Option<(&str, u64)> {
    let words: Vec<&str> = line.strip_prefix("#define ")?.split_whitespace().collect();
    let [name, value] = words[..] else { return None };
    let value = match value {
        "UINT32_MAX" => u64::from(u32::MAX),
        "UINT64_MAX" => u64::MAX,
        other => other.parse().ok()?,
    };
    Some((name, value))
}

/// Removes the doc comment that ends in the line above, and returns it.
fn doc_above(found: &mut Vec<(Token, usize)>, line: usize) -> String {
    let mut lines = Vec::new();
    while let Some((Token::Doc(text), at)) = found.last() {
        if *at + lines.len() + 1 != line {
            break;
        }
        lines.push(text.clone());
        found.pop();
    }
    lines.reverse();
    lines.join("\n").trim().to_owned()
}

fn directive(line: &str, conditions: &mut Vec<bool>) {
    let words: Vec<&str> = line.trim_start_matches('#').split_whitespace().collect();
    match words[..] {
        ["ifdef", "__cplusplus"] => conditions.push(false),
        ["ifdef" | "ifndef" | "if", ..] => conditions.push(true),
        ["else" | "elif", ..] => {
            if let Some(last) = conditions.last_mut() {
                *last = !*last;
            }
        }
        ["endif", ..] => drop(conditions.pop()),
        _ => {}
    }
}

fn words(line: &str, number: usize, header: &str, found: &mut Vec<(Token, usize)>) {
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let length = if is_part(first) { rest.find(|letter| !is_part(letter)).unwrap_or(rest.len()) } else { 1 };
        assert!(
            is_part(first) || "(){}[];,*=?:.\"-+&<>|!".contains(first),
            "{header}.h:{number}: '{first}' is not understood"
        );
        let token = if is_part(first) { Token::Word(rest[..length].to_owned()) } else { Token::Sign(first) };
        found.push((token, number));
        rest = rest[length..].trim_start();
    }
}

struct Reader<'a> {
    api: &'a mut Api,
    header: &'a str,
    tokens: Vec<(Token, usize)>,
    next: usize,
    /// The doc of the next declaration.
    doc: String,
    place: Place,
}

impl Reader<'_> {
    fn at(&self) -> String {
        let line = self.tokens.get(self.next).or(self.tokens.last()).map_or(0, |token| token.1);
        format!("include/hobgoblin/{}.h:{line}", self.header)
    }

    #[track_caller]
    fn fail(&self, expected: &str) -> ! {
        panic!("{}: expected {expected}, found {:?}", self.at(), self.tokens.get(self.next).map(|token| &token.0))
    }

    /// The next token after doc lines. The doc lines are stored in `doc`.
    fn peek(&mut self) -> Option<Token> {
        let mut is_first = true;
        loop {
            match self.tokens.get(self.next) {
                Some((Token::Doc(line), _)) => {
                    if is_first {
                        self.doc.clear();
                        is_first = false;
                    }
                    self.doc.push_str(line);
                    self.doc.push('\n');
                }
                Some((Token::Section(title), _)) => self.place.section = title.clone(),
                _ => break,
            }
            self.next += 1;
        }
        self.tokens.get(self.next).map(|token| token.0.clone())
    }

    fn take_doc(&mut self) -> String {
        std::mem::take(&mut self.doc).trim().to_owned()
    }

    fn is_sign(&mut self, sign: char) -> bool {
        let is_it = self.peek() == Some(Token::Sign(sign));
        self.next += usize::from(is_it);
        is_it
    }

    fn is_word(&mut self, word: &str) -> bool {
        let is_it = matches!(self.peek(), Some(Token::Word(found)) if found == word);
        self.next += usize::from(is_it);
        is_it
    }

    fn sign(&mut self, sign: char) {
        if !self.is_sign(sign) {
            self.fail(&format!("'{sign}'"));
        }
    }

    fn word(&mut self) -> String {
        match self.peek() {
            Some(Token::Word(word)) => {
                self.next += 1;
                word
            }
            _ => self.fail("a name"),
        }
    }

    fn declarations(mut self) {
        while self.peek().is_some() {
            if self.is_word("static") {
                self.skip_body();
            } else if self.is_word("typedef") {
                self.type_definition();
            } else if self.is_word("enum") {
                let doc = self.take_doc();
                let name = self.word();
                self.enumeration(name, doc);
                self.sign(';');
            } else {
                self.function();
            }
            self.doc.clear();
        }
    }

    /// Skips an inline function up to the end of its body. Notes the strides that an initialiser sets.
    fn skip_body(&mut self) {
        let mut depth = 0;
        let first = self.next;
        loop {
            match self.peek() {
                Some(Token::Sign('{')) => depth += 1,
                Some(Token::Sign('}')) => depth -= 1,
                Some(_) => {}
                None => self.fail("the end of an inline function"),
            }
            let ended = depth == 0 && self.peek() == Some(Token::Sign('}'));
            self.next += 1;
            if ended {
                return self.strides(first);
            }
        }
    }

    /// Finds `value.field = sizeof(element)` in the function that starts at `first` with the type of `value`.
    fn strides(&mut self, first: usize) {
        let text: Vec<&str> = self.tokens[first..self.next]
            .iter()
            .filter_map(|token| match &token.0 {
                Token::Word(word) => Some(word.as_str()),
                _ => None,
            })
            .collect();
        let Some(of) = text.get(1).and_then(|name| self.api.structs.iter_mut().find(|one| one.name == **name)) else {
            return;
        };
        for words in text.windows(4) {
            let ["value", name, "sizeof", element] = words else { continue };
            if let Some(field) = of.fields.iter_mut().find(|field| field.name == *name) {
                field.stride_of = Some((*element).to_owned());
            }
        }
    }

    fn type_definition(&mut self) {
        let is_enum = self.is_word("enum");
        let is_union = !is_enum && self.is_word("union");
        if !is_enum && !is_union && !self.is_word("struct") {
            let (name, of) = self.named_type();
            // A typedef of an array is a static assertion of C99.
            if self.is_sign('[') {
                while !self.is_sign(';') {
                    self.next += 1;
                }
                return;
            }
            self.sign(';');
            self.api.aliases.insert(name, of);
            return;
        }
        let doc = self.take_doc();
        let tag = matches!(self.peek(), Some(Token::Word(_))).then(|| self.word());
        let at = self.at();
        if self.peek() != Some(Token::Sign('{')) {
            let name = self.word();
            self.sign(';');
            if is_enum || tag.as_ref() != Some(&name) {
                panic!("{at}: the tag of {name} is another, or it is an enum without values");
            }
            self.api.handles.push(name.clone());
            self.api.handle_docs.push(Handle { name, doc, place: self.place.clone() });
            return;
        }
        let name = if is_enum {
            self.enumeration(String::new(), doc);
            self.word()
        } else {
            self.structure(&at, is_union, doc);
            self.word()
        };
        self.sign(';');
        assert!(tag.is_none_or(|tag| tag == name), "{at}: the tag of {name} is another");
        if is_enum {
            self.api.enums.last_mut().expect("it was just added").name = name;
        } else {
            self.api.structs.last_mut().expect("it was just added").name = name;
        }
    }

    fn enumeration(&mut self, name: String, doc: String) {
        let at = self.at();
        self.sign('{');
        let (mut values, mut value_docs): (Vec<(String, i64)>, Vec<String>) = (Vec::new(), Vec::new());
        while !self.is_sign('}') {
            let value = self.word();
            value_docs.push(self.take_doc());
            let number = if self.is_sign('=') {
                let text = self.word();
                text.parse().unwrap_or_else(|_| panic!("{}: {text} is not a number", self.at()))
            } else {
                values.last().map_or(0, |last| last.1 + 1)
            };
            values.push((value, number));
            if !self.is_sign(',') {
                self.sign('}');
                break;
            }
        }
        self.api.enums.push(Enum { name, values, doc, value_docs, place: self.place.clone(), at });
    }

    fn structure(&mut self, at: &str, is_union: bool, doc: String) {
        self.sign('{');
        let mut fields = Vec::new();
        loop {
            self.doc.clear();
            if self.is_sign('}') {
                break;
            }
            let (name, of) = self.named_type();
            let doc = self.take_doc();
            let array = self.is_sign('[').then(|| {
                let length = self.word();
                let known =
                    length.parse().ok().or_else(|| self.api.constants.get(&length).map(|&value| value as usize));
                self.sign(']');
                known.unwrap_or_else(|| panic!("{}: the value of {length} is unknown", self.at()))
            });
            self.sign(';');
            fields.push(Field { name, of, array, doc, stride_of: None });
        }
        let (name, place) = (String::new(), self.place.clone());
        self.api.structs.push(Struct { name, is_union, fields, doc, place, at: at.to_owned() });
    }

    /// Parses a type and the declared name. The name of an unnamed parameter is empty.
    fn named_type(&mut self) -> (String, Type) {
        let is_const = self.is_word("const");
        let _ = self.is_word("struct") || self.is_word("enum");
        let base = self.word();
        let is_const = is_const || self.is_word("const");
        let mut pointers = 0;
        while self.is_sign('*') {
            pointers += 1;
            let _ = self.is_word("const");
        }
        if !self.is_sign('(') {
            let name = if matches!(self.peek(), Some(Token::Word(_))) { self.word() } else { String::new() };
            return (name, Type { base, is_const, pointers, callback: None });
        }
        self.sign('*');
        let name = if matches!(self.peek(), Some(Token::Word(_))) { self.word() } else { String::new() };
        self.sign(')');
        self.sign('(');
        let parameters = self.parameters();
        (name, Type { base, is_const, pointers, callback: Some(parameters) })
    }

    /// Parses parameters up to the closing parenthesis.
    fn parameters(&mut self) -> Vec<Parameter> {
        let mut found = Vec::new();
        if self.is_sign(')') {
            return found;
        }
        loop {
            let (name, of) = self.named_type();
            if !(name.is_empty() && of.base == "void" && of.pointers == 0) {
                found.push(Parameter { name, of });
            }
            if self.is_sign(')') {
                return found;
            }
            self.sign(',');
        }
    }

    fn function(&mut self) {
        let doc = self.take_doc();
        let at = self.at();
        let is_must_use = self.is_word("HOB_NODISCARD");
        let is_experimental = self.is_word("HOB_EXPERIMENTAL_API");
        if !is_experimental && !self.is_word("HOB_API") {
            self.fail("a type, an inline function, HOB_API or HOB_EXPERIMENTAL_API");
        }
        let is_must_use = self.is_word("HOB_NODISCARD") || is_must_use;
        let (name, result) = self.named_type();
        self.sign('(');
        let parameters = self.parameters();
        self.sign(';');
        assert!(name.starts_with("hob_"), "{at}: {name} does not begin with hob_");
        let place = self.place.clone();
        let function = Function { name, result, parameters, is_experimental, is_must_use, doc, place, at };
        self.api.functions.push(function);
    }
}

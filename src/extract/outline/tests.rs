//! Definitions of small texts, a language each, and of texts that are no code.

use super::{DEFINITIONS_LIMIT, OutlineError, definitions, outlines};
use crate::outline::language::Language;
use pretty_assertions::assert_eq;

/// One line for each definition, as they are shown.
fn found(language: Language, text: &str) -> String {
    let found = definitions(language, text).unwrap();
    let line = |found: &super::Definition| {
        let (first, last) = (found.first_line, found.last_line);
        format!("{first}-{last} {}{}\n", "  ".repeat(found.depth), found.head)
    };
    found.iter().map(line).collect()
}

#[test]
fn rust() {
    assert_eq!(
        found(
            Language::Rust,
            "use a::b;\n/// Doc.\n#[derive(Debug)]\npub struct A;\nimpl Show for A {\n    pub(crate) fn show(&self) {\n        fn \
             inner() {}\n    }\n}\nmod m {\n    pub const X: u8 = 1;\n}\nmod other;\nmacro_rules! go \
             { () => {} }\npub trait T {\n    type Of;\n    fn all(\n        &self,\n    ) -> u8;\n}\nenum E { A }\nstatic S: u8 = 1;\ntype U = u8;\n"
        ),
        "4-4 pub struct A;\n5-9 impl Show for A {\n6-8   pub(crate) fn show(&self) {\n10-12 mod m \
         {\n11-11   pub const X: u8 = 1;\n14-14 macro_rules! go { () => {} }\n15-20 pub trait T \
         {\n16-16   type Of;\n17-19   fn all(\n21-21 enum E { A }\n22-22 static S: u8 = 1;\n23-23 \
         type U = u8;\n"
    );
}

#[test]
fn python() {
    assert_eq!(
        found(
            Language::Python,
            "import os\n@x\nclass A(B):\n    def f(self):\n        def g(): pass\n\n\nasync def \
             h():\n    pass\n\nif os:\n    def i(): pass\n"
        ),
        "3-5 class A(B):\n4-5   def f(self):\n8-9 async def h():\n12-12 def i(): pass\n"
    );
}

#[test]
fn javascript() {
    assert_eq!(
        found(
            Language::JavaScript,
            "export default class A { b() {} c = () => 1; }\nconst d = async (x) => \
             <p>{x}</p>;\nfunction* e() {}\nlet f = 1;\nmodule.exports.g = function () \
             {\n};\ndescribe(\"x\", () => {\n  function h() {}\n});\n"
        ),
        "1-1 export default class A { b() {} c = () => 1; }\n1-1   b() {}\n1-1   c = () => 1\n2-2 \
         const d = async (x) => <p>{x}</p>;\n3-3 function* e() {}\n5-6 module.exports.g = function \
         () {\n8-8 function h() {}\n"
    );
}

#[test]
fn typescript() {
    assert_eq!(
        found(
            Language::TypeScript,
            "export interface A { b: string }\ntype C = A | null;\nenum D { X }\nnamespace N {\n  \
             export function f<T>(x: T): T { return x }\n}\n@Component({})\nexport abstract class E \
             {\n  abstract g(): void;\n  h = (): void => {}\n  private async i(): Promise<void> \
             {\n  }\n}\nexport const View = () => <div/>;\nfunction after(): void {}\nexport const \
             pick = <T,>(x: T) => x;\n"
        ),
        "1-1 export interface A { b: string }\n2-2 type C = A | null;\n3-3 enum D { X }\n4-6 \
         namespace N {\n5-5   export function f<T>(x: T): T { return x }\n8-13 export abstract class \
         E {\n9-9   abstract g(): void;\n10-10   h = (): void => {}\n11-12   private async i(): \
         Promise<void> {\n14-14 export const View = () => <div/>;\n15-15 function after(): void \
         {}\n16-16 export const pick = <T,>(x: T) => x;\n"
    );
    // The grammar with JSX does not know these, and goes on behind them.
    let text = "export const a = <T>(x: T) => x;\nexport class B {\n  c(): T { return <T>d; }\n}\nfunction e() {}\n";
    assert!(found(Language::TypeScript, text).contains("5-5 function e() {}"));
}

#[test]
fn go() {
    assert_eq!(
        found(
            Language::Go,
            "package a\n\ntype S struct {\n\tx int\n}\n\nfunc (s *S) Get() int { return s.x \
             }\n\nfunc main() {\n}\n\ntype (\n\tI interface{ F() }\n\tJ = int\n)\n"
        ),
        "3-5 type S struct {\n7-7 func (s *S) Get() int { return s.x }\n9-10 func main() {\n13-13 I \
         interface{ F() }\n14-14 J = int\n"
    );
}

#[test]
fn java() {
    assert_eq!(
        found(
            Language::Java,
            "package a;\npublic class A {\n  A() {}\n  @Override\n  public int f() {\n    return \
             1;\n  }\n  enum B { X; void g() {} }\n}\ninterface C { void h(); }\nrecord D(int x) {}\n"
        ),
        "2-9 public class A {\n3-3   A() {}\n4-7   public int f() {\n8-8   enum B { X; void g() {} \
         }\n8-8     void g() {}\n10-10 interface C { void h(); }\n10-10   void h();\n11-11 record D(int \
         x) {}\n"
    );
}

#[test]
fn c() {
    assert_eq!(
        found(
            Language::C,
            "#include <a.h>\n#define MAX(a) a\nstruct s { int x; };\ntypedef struct { int y; } \
             t;\nint *f(int a);\nint x = 1;\nstatic char **\ng(void)\n{\n  return 0;\n}\n#ifdef \
             X\nint h(void) { return f(1); }\n#endif\n"
        ),
        "2-2 #define MAX(a) a\n3-3 struct s { int x; };\n4-4 typedef struct { int y; } t;\n5-5 int \
         *f(int a);\n7-11 g(void)\n13-13 int h(void) { return f(1); }\n"
    );
}

#[test]
fn php() {
    assert_eq!(
        found(
            Language::Php,
            "<?php\nnamespace N;\nclass A {\n  public static function f() {}\n}\ninterface I {}\ntrait \
             T {}\nenum E {}\nfunction g() {\n}\n"
        ),
        "2-2 namespace N;\n3-5 class A {\n4-4   public static function f() {}\n6-6 interface I \
         {}\n7-7 trait T {}\n8-8 enum E {}\n9-10 function g() {\n"
    );
}

#[test]
fn protocol_buffers() {
    assert_eq!(
        found(
            Language::Protobuf,
            "syntax = \"proto3\";\npackage a.b;\nimport \"c.proto\";\nservice S {\n  option deprecated = \
             true;\n  rpc Get(Key) returns (stream a.Value) {\n  }\n  rpc Put(stream a.Value) returns \
             (Key);\n}\nmessage Key {\n  oneof of { string name = 1; }\n  enum Kind { UNKNOWN = 0; \
             }\n  message Inner { int32 x = 1; }\n}\nextend google.protobuf.FieldOptions {\n  string \
             note = 50000;\n}\n// message Comment {}\nenum Level { LOW = 0; }\n"
        ),
        "4-9 service S {\n6-7   rpc Get(Key) returns (stream a.Value) {\n8-8   rpc Put(stream a.Value) \
         returns (Key);\n10-14 message Key {\n12-12   enum Kind { UNKNOWN = 0; }\n13-13   message \
         Inner { int32 x = 1; }\n15-17 extend google.protobuf.FieldOptions {\n19-19 enum Level { \
         LOW = 0; }\n"
    );
}

#[test]
fn shells_lua_and_terraform() {
    assert_eq!(
        found(Language::Bash, "set -e\nf() {\n  :\n}\nfunction g { :; }\n"),
        "2-4 f() {\n5-5 function g { :; }\n"
    );
    assert_eq!(
        found(Language::Lua, "local function f() end\nfunction M.g(x)\nend\n"),
        "1-1 local function f() end\n2-3 function M.g(x)\n"
    );
    let text = "resource \"aws_s3_bucket\" \"b\" {\n  versioning {\n  }\n}\nlocals {\n}\n";
    assert_eq!(
        found(Language::Hcl, text),
        "1-4 resource \"aws_s3_bucket\" \"b\" {\n5-6 locals {\n"
    );
}

#[test]
fn the_line_of_the_name_is_shown_and_cut_where_it_is_long() {
    let text = "é = 1\r\n\r\n  \r\nclass  A:  \r\n    x = 1\r\n\r\n";
    assert_eq!(found(Language::Python, text), "4-5 class  A:\n");
    let all = definitions(Language::Rust, &format!("fn a({}) {{}}\n", "é".repeat(200))).unwrap();
    assert_eq!(all[0].head, format!("fn a({}…", "é".repeat(77)));
    // Of a line with many, each shows itself.
    let line = format!("{}function last(){{}}\n", "function f(){a()}".repeat(20));
    let all = definitions(Language::JavaScript, &line).unwrap();
    assert_eq!((all.len(), all[1].head.as_str()), (21, "function f(){a()}"));
    assert_eq!(all[20].head, "function last(){}");
}

#[test]
fn what_is_broken_gives_what_can_be_read_and_what_is_deep_or_binary_ends() {
    for (language, text) in [
        (Language::Rust, "fn a() {}\n}}} fn b( {\nfn c() {}\n"),
        (Language::Python, "def a():\n  pass\nclass (:\n"),
        (Language::CSharp, "class A { void a() {} \n"),
        (Language::Cpp, "void a() {\n}\n}}} )\nvoid b( {\n"),
    ] {
        assert!(found(language, text).contains(" a()"), "{language:?}");
    }
    assert_eq!(found(Language::Go, ""), "");
    for language in Language::all() {
        for piece in [
            "(",
            "{",
            "class A {",
            "<",
            "\0\u{1}\u{fffd}",
            "\"",
            "if x:\n ",
            "`${",
            "R\"(",
            "$\"{",
            "operator",
            "#if A\n{",
            "a<(",
            "'",
            "\\\n",
            "#else\n",
            "é[",
        ] {
            definitions(language, &piece.repeat(800));
            definitions(language, piece);
        }
    }
}

#[test]
fn no_more_is_found_than_anyone_is_shown() {
    let one = "void f() {}\n";
    let many = one.repeat(DEFINITIONS_LIMIT - 1);
    let texts = vec![(Language::Cpp, many.as_bytes()); 3];
    let counts: Vec<_> = outlines(texts).into_iter().map(|it| it.map(|it| it.len())).collect();
    assert_eq!(counts, [Ok(DEFINITIONS_LIMIT - 1), Ok(1), Err(OutlineError::BehindLimit)]);
    for (language, one) in [(Language::Bash, "f() { :; }\n"), (Language::Cpp, one)] {
        let found = definitions(language, &one.repeat(DEFINITIONS_LIMIT + 1));
        assert_eq!(found.unwrap().len(), DEFINITIONS_LIMIT);
    }
}

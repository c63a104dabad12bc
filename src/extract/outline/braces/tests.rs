//! Definitions of C++ and C#, and what looks like one.

use crate::outline::definitions;
use crate::outline::language::Language;
use pretty_assertions::assert_eq;

fn check(language: Language, lines: &[&str], expected: &[&str]) {
    let found = definitions(language, &lines.join("\n")).unwrap();
    let shown = found.iter().map(|found| {
        let (first, last) = (found.first_line, found.last_line);
        format!("{first}-{last} {}{}", "  ".repeat(found.depth), found.head)
    });
    assert_eq!(shown.collect::<Vec<_>>(), expected);
}

#[test]
fn cpp() {
    check(
        Language::Cpp,
        &[
            "#pragma once",
            "#define MAX(a, b) ((a) > (b) ? \\",
            "  (a) : (b)) {",
            "namespace n::m {",
            "class Forward;",
            "template <class T, int N = 3>",
            "class EXPORT A final : public B<T>, C {",
            " public:",
            "  explicit A(int x) : B<T>{x}, y_(x) {",
            "    auto f = [] { return \"}\"; };",
            "  }",
            "  ~A() = default;",
            "  int f(std::function<int(int)> g) const { return '}'; }",
            "  bool operator==(const A& other) const;",
            "  virtual void h() = 0;",
            " private:",
            "  int y_{1}; // }",
            "  std::map<int, int> z_ = {{1, 2}};",
            "  struct Inner { int w; };",
            "};",
            "using U = A<int>;",
            "enum class E : int { X, Y };",
            "}  // namespace",
            "int n::A::g() { return 2; }",
            "static const char* raw = R\"x({ void no() {} })x\";",
            "extern \"C\" {",
            "int c_function(void);",
            "}",
            "TEST(Suite, Name) {",
            "}",
            "std::string name(\"x\");",
            "CALL(x);",
            "struct S *made(struct S s)",
            "{",
            "#ifdef A",
            "  if (s) {",
            "#else",
            "  if (!s) {",
            "#endif",
            "  }",
            "}",
            "auto last() -> std::vector<int> {",
            "}",
            "typedef void (*callback)(int);",
            "namespace std VISIBLE(default) {",
            "BEGIN_VERSION",
            "class D {",
            "};",
            "}",
        ],
        &[
            "2-3 #define MAX(a, b) ((a) > (b) ? \\",
            "4-23 namespace n::m {",
            "6-20   class EXPORT A final : public B<T>, C {",
            "9-11     explicit A(int x) : B<T>{x}, y_(x) {",
            "12-12     ~A() = default;",
            "13-13     int f(std::function<int(int)> g) const { return '}'; }",
            "14-14     bool operator==(const A& other) const;",
            "15-15     virtual void h() = 0;",
            "19-19     struct Inner { int w; };",
            "21-21   using U = A<int>;",
            "22-22   enum class E : int { X, Y };",
            "24-24 int n::A::g() { return 2; }",
            "27-27 int c_function(void);",
            "29-30 TEST(Suite, Name) {",
            "33-41 struct S *made(struct S s)",
            "42-43 auto last() -> std::vector<int> {",
            "44-44 typedef void (*callback)(int);",
            "45-49 namespace std VISIBLE(default) {",
            "46-48   class D {",
        ],
    );
}

#[test]
fn branches_of_the_preprocessor_that_open_the_same_type_close_it_once() {
    check(
        Language::Cpp,
        &[
            "#ifdef A",
            "struct S : B {",
            "#else",
            "struct S {",
            "#endif",
            "  int f();",
            "};",
            "int g();",
        ],
        &["2-2 struct S : B {", "4-7 struct S {", "6-6   int f();", "8-8 int g();"],
    );
}

#[test]
fn csharp() {
    check(
        Language::CSharp,
        &[
            "using System;",
            "namespace A.B",
            "{",
            "    [Serializable]",
            "    public sealed class C<T> : D, IE where T : class, new()",
            "    {",
            "        private readonly int[] x = { 1, 2 };",
            "        private Func<int, int> y = z => { return z; };",
            "        public string Name { get; set; } = \"}\";",
            "        public int Size => x.Length;",
            "        public int this[int i] { get { return x[i]; } }",
            "        public C(int a) : base(a) { }",
            "        [Test(\"(\")]",
            "        public async Task<(int, int)> F<U>(U u) where U : struct",
            "        {",
            "            var s = $\"{u} {{ {G(\"}\")}\";",
            "            var v = @\"\"\"}\";",
            "            if (u != null) { }",
            "        }",
            "        public (int a, int b) G(string s) => (1, 2);",
            "        public static bool operator ==(C<T> a, C<T> b) => true;",
            "        public event Action Done;",
            "        class Inner { void H() { } }",
            "    }",
            "    interface IE { int Id { get; } void J(); }",
            "    enum K { X, Y }",
            "    public record R(int X);",
            "    record struct S { }",
            "    delegate void M(int n);",
            "}",
        ],
        &[
            "2-30 namespace A.B",
            "4-24   public sealed class C<T> : D, IE where T : class, new()",
            "9-9     public string Name { get; set; } = \"}\";",
            "10-10     public int Size => x.Length;",
            "11-11     public int this[int i] { get { return x[i]; } }",
            "12-12     public C(int a) : base(a) { }",
            "13-19     public async Task<(int, int)> F<U>(U u) where U : struct",
            "20-20     public (int a, int b) G(string s) => (1, 2);",
            "21-21     public static bool operator ==(C<T> a, C<T> b) => true;",
            "23-23     class Inner { void H() { } }",
            "23-23       void H() { }",
            "25-25   interface IE { int Id { get; } void J(); }",
            "25-25     int Id { get; }",
            "25-25     void J();",
            "26-26   enum K { X, Y }",
            "27-27   public record R(int X);",
            "28-28   record struct S { }",
            "29-29   delegate void M(int n);",
        ],
    );
    check(
        Language::CSharp,
        &[
            "namespace A;",
            "var app = Make(args);",
            "if (app.Ready()) {",
            "    app.Run(() => { });",
            "}",
            "class B { string s = \"\"\"",
            "   \"}\" class No { }",
            "   \"\"\"; void F() { } }",
        ],
        &["1-1 namespace A;", "6-8 class B { string s = \"\"\"", "8-8   \"\"\"; void F() { } }"],
    );
}

#[test]
fn a_line_of_the_preprocessor_that_continues_ends_with_an_empty_line() {
    check(Language::Cpp, &["#undef A \\", "", "int f();"], &["3-3 int f();"]);
}

/// Each takes minutes where what was looked at is looked at again.
#[test]
fn a_text_of_one_mebibyte_takes_time_in_proportion() {
    let mebibyte = |piece: &str| piece.repeat((1 << 20) / piece.len());
    let half = |piece: &str| piece.repeat((1 << 19) / piece.len());
    let (cpp, csharp) = (Language::Cpp, Language::CSharp);
    for (language, text) in [
        (csharp, mebibyte("@")),
        (csharp, mebibyte("$")),
        (csharp, [half("\""), "x".to_owned(), half("\"\"\"x")].concat()),
        (cpp, mebibyte("\"")),
        (cpp, mebibyte("R\"0123456789abcdef)0123456789abcdef\"")),
        (cpp, ["#\\".to_owned(), mebibyte("\n")].concat()),
        (cpp, [half("public "), "x".to_owned(), half(":")].concat()),
        (cpp, [half("extern \"C\"{"), half("int f();")].concat()),
        (cpp, ["class A{".repeat(9_999), mebibyte(" ")].concat()),
        (
            cpp,
            ["#if A\n".to_owned(), "class A{".repeat(9_999), mebibyte(" "), "\n#else\n".to_owned()]
                .concat(),
        ),
    ] {
        let start: String = text.chars().take(20).collect();
        assert!(definitions(language, &text).is_some(), "{language:?}: {start}");
    }
}

#[test]
fn a_head_with_values_without_end_takes_too_long_and_one_of_a_usual_length_does_not() {
    for language in [Language::Cpp, Language::CSharp] {
        let values = |count: usize| format!("class A {{ int x = {}; }}", "{}".repeat(count));
        assert_eq!(definitions(language, &values(500_000)), None, "{language:?}");
        let found = definitions(language, &values(1_000));
        assert_eq!(found.map(|found| found.len()), Some(1), "{language:?}");
    }
    // A constructor that gives each of its members a value.
    let members = ": x{1}".to_owned() + &", x{1}".repeat(1_000);
    let found = definitions(Language::Cpp, &format!("A::A() {members} {{\n}}\nint f();\n"));
    assert_eq!(found.map(|found| found.len()), Some(2));
}

use durations::seconds;

#[test]
fn reads_hours_and_minutes() {
    assert_eq!(seconds("1h30m"), Some(5400));
}

#[test]
fn reads_seconds() {
    assert_eq!(seconds("45s"), Some(45));
}

#[test]
fn refuses_a_number_without_a_unit() {
    assert_eq!(seconds("90"), None);
}

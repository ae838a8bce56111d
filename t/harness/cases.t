# The table of docs/cases.md, the numbers of cases in tests, and the mutations of t/mutations agree with each other and with
# the code. t/TEST copies all of it for this test.
use strict;
use warnings;

use CRCSync::Mutants;
use CRCSync::Test;
use CRCSync::Work;

my $t = CRCSync::Work::t_dir();
my $top = "$t/..";

# What a row of the table names; a case stands there once.
my %files;
for my $line (split /\n/, slurp("$top/docs/cases.md")) {
    my ($case, $what, $tests) = $line =~ /^\| (C\d\d) \| (.+) \| (.+) \|$/ or next;
    ok(!$files{$case}, "$case stands once in the table");
    $files{$case} = [$tests =~ /`([^`]+)`/g];
}
is_deeply([sort keys %files], [map { sprintf 'C%02d', $_ } 1 .. 40], 'the table has all cases and no others');

# The cases that a file shows: at the start of a description, or in a comment of a unit test.
sub shown_in {
    my ($file) = @_;
    my $text = slurp($file);
    return $text =~ /\b(C\d\d)\b/g if $file =~ /\.cpp$/;
    return map { /C\d\d/g } $text =~ /["'](C\d\d(?:, C\d\d)*): /g;
}
for my $case (sort keys %files) {
    cmp_ok(scalar @{$files{$case}}, '>', 0, "$case has tests");
    for my $file (@{$files{$case}}) {
        my $shown = -e "$t/$file" && grep { $_ eq $case } shown_in("$t/$file");
        ok($shown, "$case: $file shows it");
    }
}
for my $file (glob "$t/{unit,harness,server,client,pair}/*.{t,cpp}") {
    next if $file =~ m{harness/cases\.t$};
    my %unknown = map { $_ => 1 } grep { !$files{$_} } shown_in($file);
    is(join(' ', sort keys %unknown), '', "$file: its cases stand in the table") if %unknown;
}

# Each case has mutations, that can be put into the code as it is, and name tests that are there.
my %mutations;
for my $mutation (CRCSync::Mutants::read_all($top)) {
    push @{$mutations{$mutation->{case}}}, $mutation;
    my $name = "$mutation->{case}, '$mutation->{what}'";
    my $applied = eval { CRCSync::Mutants::apply($mutation, sub { slurp("$top/$_[0]") }); 1 };
    ok($applied, "$name: not stale") or diag($@);
    for my $test (@{$mutation->{tests}}) {
        ok(-e "$t/$test" || -e "$t/$test.cpp", "$name: there is $test");
    }
}
is_deeply([sort keys %mutations], [sort keys %files], 'each case has mutations');

done_testing;

# All that a test file needs, by one line: use CRCSync::Test;
#
# It exports Test::More, the raw client (http_get, http_request, field, fields_of), expect_log and allow_log, slurp and
# spew, random_bytes and text. done_testing is its own: it ends what the test has started, then reads the error logs.
#
# soak(fast => N, full => M) is how large a test is: N, or M where build/soak.sh has set CRCSYNC_SOAK=1; it finds the tests
# that call this by itself. figure('what, unit' => value) reports a number that stands in its table.
package CRCSync::Test;

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use Exporter qw(import);
use Test::More ();

use CRCSync::ErrorLog qw(expect_log allow_log);
use CRCSync::Http qw(http_get http_request field fields_of);
use CRCSync::Httpd;
use CRCSync::Origin;
use CRCSync::Relay;
use CRCSync::Work;

my @from_test_more = grep { /^\w+$/ && $_ ne 'done_testing' } @Test::More::EXPORT;
our @EXPORT = (
    @from_test_more,
    qw(done_testing expect_log allow_log http_get http_request field fields_of slurp spew random_bytes text is_body
        apache_test soak figure)
);
BEGIN {
    no strict 'refs';
    *$_ = \&{"Test::More::$_"} for grep { /^\w+$/ && $_ ne 'done_testing' } @Test::More::EXPORT;
}

sub slurp { return CRCSync::Work::slurp(@_) }
sub spew { return CRCSync::Work::spew(@_) }

# For build/mutants.sh: the first failure ends the test file.
if ($ENV{CRCSYNC_FIRST_FAILURE}) {
    my $ok = \&Test::Builder::ok;
    no warnings 'redefine';
    *Test::Builder::ok = sub {
        my $passed = $ok->(@_);
        Test::More::BAIL_OUT('the first failure') unless $passed;
        return $passed;
    };
}

my $failed_early = 1;
my $pid_of_test = $$;

sub done_testing {
    eval { CRCSync::Httpd::stop_all(); 1 } or fail("all httpds end: $@");
    my @complaints = CRCSync::ErrorLog::complaints();
    ok(!@complaints, 'the error logs hold only what was announced') or diag(join "\n", @complaints);
    $failed_early = 0;
    return Test::More::done_testing();
}

# Compares bodies by length and hash first, and tells where they part: a diagnosis of 100 kB helps nobody.
sub is_body {
    my ($got, $want, $name) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    $got  = '(no body)' unless defined $got;
    return pass($name) if $got eq $want;
    my $at = 0;
    if (($got ^ $want) =~ /^\0*/) { $at = $+[0] }
    fail($name);
    diag(sprintf "got %d bytes %s, want %d bytes %s; they part at %d:\n got  %s\n want %s", length $got,
        sha256_hex($got), length $want, sha256_hex($want), $at, map { _printable(substr $_, $at, 60) } $got, $want);
    return 0;
}

sub _printable {
    my ($bytes) = @_;
    $bytes =~ s/([^\x20-\x7e])/sprintf '\\x%02x', ord $1/ge;
    return $bytes;
}

# The same bytes for the same seed, everywhere: no run differs from another.
sub random_bytes {
    my ($count, $seed) = @_;
    my $state = ($seed // 1) * 2_654_435_761 % 4_294_967_296 || 1;
    my @words;
    for (1 .. ($count + 3) / 4) {
        $state ^= $state << 13 & 0xffffffff;
        $state ^= $state >> 17;
        $state ^= $state << 5 & 0xffffffff;
        push @words, $state;
    }
    return substr pack('N*', @words), 0, $count;
}

# About `count` bytes of text that compresses like a page (not within itself alike: each line has its own words).
sub text {
    my ($count, $seed) = @_;
    my @words = qw(time year people way day man thing woman life child world school state family student group country
        problem hand part place case week company system program question work government number night point home water
        room mother area money story fact month lot right study book eye job word business issue side kind head house);
    my $text = '';
    my @random = unpack 'N*', random_bytes(1 + $count, $seed);
    while (length $text < $count) {
        my $n = shift @random // last;
        $text .= '<p>' . join(' ', map { $words[($n >> 5 * $_) % @words] } 0 .. 5) . sprintf " %08x</p>\n", $n;
    }
    return substr $text, 0, $count;
}

sub soak {
    my (%size) = @_;
    exists $size{$_} or die "soak: no size '$_'\n" for qw(fast full);
    return $size{$ENV{CRCSYNC_SOAK} ? 'full' : 'fast'};
}

# build/soak.sh reads these lines.
sub figure {
    my ($what, $value) = @_;
    return Test::More::note("figure: $what = $value");
}

# A variable of the server that Apache::Test runs: apache_test('port'), and ports of its virtual hosts by name.
# Watches that server's error log from then on.
my $watching;

sub apache_test {
    my ($name) = @_;
    require Apache::Test;
    my $vars = Apache::Test::vars();
    if (!$watching++) {
        my $log = "$vars->{t_logs}/error_log";
        CRCSync::ErrorLog::watch($log, 'Apache::Test', -s $log || 0);
    }
    return $vars->{$name} // die "Apache::Test has no variable $name\n";
}

END {
    # A test that died shows the logs too: the reason is often there.
    if ($failed_early && $$ == $pid_of_test) {
        local $?;
        diag($_) for CRCSync::ErrorLog::complaints();
    }
}

1;

#!/usr/bin/perl
# The scripts that run the tests: one run at a time in a tree, usages; and that the documentation names one log format.
#
#   perl t/scripts/scripts.t TOP
use strict;
use warnings;

use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Temp ();
use Test::More;

my ($top) = @ARGV;
my $tree = File::Temp::tempdir('crcsync-scripts-XXXXXX', TMPDIR => 1, CLEANUP => 1);
make_path("$tree/build/lib");
for my $script (qw(build/test.sh build/soak.sh build/lib/tree_lock.sh)) {
    copy("$top/$script", "$tree/$script") or die "$script: $!\n";
}

make_path("$tree/t/pair");
open my $test, '>', "$tree/t/pair/long.t" or die "long.t: $!\n";
print {$test} "my \$n = so" . "ak(1);\n";    # in two pieces, or soak.sh would find the call here too
close $test;

sub slurp {
    my ($path) = @_;
    open my $file, '<:raw', $path or die "$path: $!\n";
    local $/ = undef;
    return scalar <$file>;
}

# Exit status and output of both kinds.
sub run {
    my (@command) = @_;
    my $pid = open my $out, '-|' // die "fork: $!\n";
    if (!$pid) {
        open STDERR, '>&', \*STDOUT or die;
        exec @command or die "@command: $!\n";
    }
    my $text = do { local $/ = undef; <$out> } // '';
    close $out;
    return ($? >> 8, $text);
}

# Somebody who has the lock, until `end`.
pipe my $wait, my $end or die "pipe: $!\n";
my $pid = open my $said, '-|' // die "fork: $!\n";
if (!$pid) {
    close $end;
    open STDIN, '<&', $wait or die;
    chdir $tree or die "$tree: $!\n";
    exec 'bash', '-c', '. build/lib/tree_lock.sh; lock_tree first; echo locked; read -r line';
}
close $wait;
is(scalar <$said>, "locked\n", 'the first run has the lock');
for my $script ('test.sh', 'soak.sh') {
    my ($status, $text) = run('bash', "$tree/build/$script");
    is($status, 75, "$script: a second run ends at once");
    like($text, qr{\Abuild/\Q$script\E: this tree \(\Q$tree\E\) is in use by first, process $pid, since \S+ \S+\n\z}, 'and names the first');
    ($status, $text) = run('bash', "$tree/build/$script", '--help');
    is($status, 0, "$script --help needs no lock");
    like($text, qr/^usage: .*in use/s, 'and tells of it');
}
close $end;
close $said;
my ($status, $text) = run('bash', "$tree/build/test.sh");
like($text, qr{packages\.sh}, 'with the lock free it goes on, to what this tree does not have');
isnt($status, 75, 'and has the lock');

($status, $text) = run($^X, "$top/t/TEST", '--help');
is($status, 0, 't/TEST --help');
like($text, qr/\Ausage: t\/TEST --build DIR.*--keep/s, 'prints its usage');
for my $wrong ([], ['--build', "$tree/missing"], ['--nonsense']) {
    ($status, $text) = run($^X, "$top/t/TEST", @$wrong);
    is($status, 2, "t/TEST @$wrong: wrong usage");
    like($text, qr/^usage: t\/TEST/m, 'which it prints');
}

# Whoever compares a log with what is written reads one format.
my %formats;
for my $file (qw(README examples/README examples/httpd.conf docs/directives.md docs/operations.md)) {
    my @formats = slurp("$top/$file") =~ /^\s*(LogFormat .* crcsync)$/mg;
    is(scalar @formats, 1, "$file has a LogFormat");
    $formats{$_} = 1 for @formats;
}
is(scalar keys %formats, 1, 'the same everywhere') or diag(join "\n", sort keys %formats);

done_testing;

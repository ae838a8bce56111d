#!/usr/bin/perl
# The command-line tool, as the man page describes it: golden vectors, exit statuses, and what is written when.
#
#   perl t/tool/tool.t TOOL GOLDEN_DIR
use strict;
use warnings;

use Config ();
use Encode ();
use File::Temp ();
use JSON::PP ();
use Test::More;

my ($tool, $golden) = @ARGV;
my $dir = File::Temp::tempdir('crcsync-tool-XXXXXX', TMPDIR => 1, CLEANUP => 1);

sub slurp {
    my ($path) = @_;
    open my $file, '<:raw', $path or die "$path: $!\n";
    local $/ = undef;
    return scalar <$file>;
}

sub spew {
    my ($path, $content) = @_;
    open my $file, '>:raw', $path or die "$path: $!\n";
    print {$file} $content;
    close $file or die "$path: $!\n";
    return $path;
}

# Runs the tool with $input; gives exit status, standard output and standard error.
sub run {
    my ($input, @arguments) = @_;
    my $in = spew("$dir/stdin", $input);
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        open STDIN,  '<:raw', $in            or die;
        open STDOUT, '>:raw', "$dir/stdout" or die;
        open STDERR, '>:raw', "$dir/stderr" or die;
        exec $tool, @arguments or die "$tool: $!\n";
    }
    waitpid $pid, 0;
    is($? & 127, 0, "no signal: @arguments[0 .. ($#arguments < 2 ? $#arguments : 2)]");
    return ($? >> 8, slurp("$dir/stdout"), slurp("$dir/stderr"));
}

my @cases = sort grep { -d } glob "$golden/*";
cmp_ok(@cases, '>=', 15, 'golden cases');
for my $case (@cases) {
    my ($name) = $case =~ m{([^/]+)$};
    my ($base, $new, $delta, $field) = map { "$case/$_" } qw(base new delta.bin if_block.txt);
    my $collision = $name =~ /crc-collision/;

    my ($status, $out) = run('', 'signature', '--blocks', 40, $base);
    is($status, 0,             "$name: signature");
    is($out,    slurp($field), "$name: the field value");

    my $rebuilt = "$dir/rebuilt";
    ($status) = run('', 'patch', '--if-block', "\@$field", $base, $delta, '-o', $rebuilt);
    is($status, $collision ? 1 : 0, "$name: patch of the golden delta");
    ok($collision ? !-e $rebuilt : slurp($rebuilt) eq slurp($new), "$name: what it writes");
    ($status, $out) = run('', 'patch', '--if-block', "\@$field", $base, $delta);
    ok($collision ? $out eq '' : $out eq slurp($new), "$name: what it writes to standard output");
    unlink $rebuilt;

    my $made = "$dir/made";
    ($status) = run('', 'delta', '--if-block', slurp($field) =~ s/\n//r, $new, '-o', $made);
    is($status, 0, "$name: delta");
    cmp_ok(-s $made, '<=', -s $delta, "$name: no longer than the golden one");
    ($status, $out) = run(slurp($made), 'patch', '--if-block', "\@$field", $base, '-');
    ok($collision ? $status == 1 && $out eq '' : $status == 0 && $out eq slurp($new), "$name: and patch turns it into new");

    ($status, $out) = run('', 'inspect', $made);
    is($status, 0, "$name: inspect");
    like($out, qr/^ *\d+  S +21 bytes  sha1 [0-9a-f]{40}\n\z/m, "$name: ends with the strong hash");
    ($status, $out) = run('', 'delta', '--if-block', "\@$case/if_block_host_order.txt", $new);
    is($status, 0, "$name: a field of the 2009 code");
}

# A pipe of all three, through standard input and output.
my $base = spew("$dir/base", join '', map { "line $_ of the base\n" } 1 .. 500);
my $page = slurp($base) =~ s/line 250 /line two hundred and fifty /r;
my (undef, $field) = run('', 'signature', $base);
chomp $field;
my (undef, $delta) = run($page, 'delta', '--if-block', $field, '-');
cmp_ok(length $delta, '<', 400, 'one changed line makes a short delta');
is((run($delta, 'patch', '--if-block', $field, $base, '-'))[1], $page, 'and patch gives the page back');
my (undef, $json) = run($delta, 'inspect', '--json', '-');
like($json, qr/\A\[\n(?:  \{"offset": \d+, "section": "[BLZS]", "bytes": \d+, "\w+": (?:\d+|"[0-9a-f]{40}")\},?\n)+\]\n\z/,
    'inspect --json');

# simulate: the totals are the sums of the steps after the first.
my @versions = map { spew("$dir/v$_", slurp($base) =~ s/line ${_}0 /changed $_ /r) } 1 .. 4;
my ($status, $table) = run('', 'simulate', @versions);
is($status, 0, 'simulate');
my @steps = $table =~ /^ +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +[\d.]+%/mg;
is(@steps, 20, 'four steps of five columns');
my ($total) = $table =~ /^ +\d+ +(\d+) +\d+ +\d+ +[\d.]+% +total after the first$/m;
is($total, $steps[7] + $steps[12] + $steps[17], 'total of request bytes');
is($steps[1], 0, 'the first fetch has no base');
cmp_ok($steps[7] + $steps[8], '<', $steps[9], 'a delta costs less than gzip');
(undef, $json) = run('', 'simulate', '--json', '--blocks', 40, @versions);
like($json, qr/"percent_of_gzip": [\d.]+\}\n\}\n\z/, 'simulate --json');
my @requests = $json =~ /"blocks": 40, "request_bytes": (\d+)/g;
is(@requests, 3, '--blocks 40 holds for all but the first');

# Exit statuses.
my $out = "$dir/out";
my $cut = spew("$dir/cut", substr $delta, 0, -1);
my $full = -e '/dev/full';
ok($full, '/dev/full is there to stand for a full disk');
for my $try (
    [0, 'help'],
    [0, '--version'],
    [0, 'delta', '--help'],
    [2],
    [2, 'nonsense'],
    [2, 'signature'],
    [2, 'signature', $base, $base],
    [2, 'signature', '--blocks', 0, $base],
    [2, 'signature', '--blocks', 257, $base],
    [2, 'signature', '--blocks', 'x', $base],
    [2, 'signature', '--blocks'],
    [2, 'signature', '--protocol', 2, $base],
    [2, 'signature', '--nonsense', $base],
    [3, 'simulate', '--json', $base, "$dir/missing"],
    [2, 'delta', $base],
    [2, 'patch', '--if-block', $field, $base],
    [2, 'patch', '--if-block', $field, '-', '-'],
    [3, 'signature', "$dir/missing"],
    [3, 'signature', $dir],
    [3, 'delta', '--if-block', "\@$dir/missing", $base],
    [3, 'delta', '--if-block', $field, $base, '-o', "$dir/missing/out"],
    [3, 'delta', '--if-block', $field, $base, '-o', '/dev/full'],
    [1, 'delta', '--if-block', 'v=1; fs=0; h=AAAAAAAAAAA=', $base],
    [1, 'delta', '--if-block', 'v=2; q=x', $base],
    [1, 'patch', '--if-block', $field, $base, $cut, '-o', $out],
    [1, 'patch', '--if-block', $field, $base, $base, '-o', $out],
    [1, 'patch', '--if-block', $field, $cut, $cut, '-o', $out],
    [1, 'inspect', $cut],
    [1, 'inspect', $base],
    )
{
    my ($expected, @arguments) = @$try;
    my ($got, $stdout, $stderr) = run('', @arguments);
    is($got, $expected, "exit status of: @arguments[0 .. ($#arguments < 1 ? $#arguments : 1)] ...");
    if ($expected != 0) {
        like($stderr, qr/\Acrcsync: .+\n\z/, 'one line says why');
        is($stdout, '', 'nothing on standard output');
        ok(!-e $out, 'no output file');
    }
    is_deeply([glob "$dir/out.*"], [], 'no temporary file');
}

# A fault leaves an older file as it was.
spew($out, 'older');
run('', 'patch', '--if-block', $field, $base, $cut, '-o', $out);
is(slurp($out), 'older', 'a corrupt delta does not touch the file that stands there');

# What has no end is not read for ever.
for my $try (['inspect'], ['inspect', '--json'], ['simulate', $base], ['simulate'], ['signature']) {
    my ($got, $stdout, $stderr) = run('', @$try, '/dev/zero');
    is($got, 3, "@$try /dev/zero ends");
    is($stderr, "crcsync: /dev/zero: more than 268435456 bytes\n", 'with the limit');
    is($stdout, '', 'and nothing on standard output');
}

# JSON is UTF-8 whatever a file is called; a byte that is none is U+FFFD.
my $odd = "$dir/\xc3\xa9\xf0\x9f\x98\x80 \"\\\t\xff\xc3 \xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82";
spew($odd, slurp($base));
($status, $json) = run('', 'simulate', '--json', $odd, $odd);
is($status, 0, 'simulate of a file with an odd name');
my $decoded = eval { JSON::PP->new->decode(Encode::decode('UTF-8', $json, Encode::FB_CROAK | Encode::LEAVE_SRC)) };
ok($decoded, 'its JSON is UTF-8') or diag($@);
my $x = "\x{fffd}";
is($decoded && $decoded->{steps}[0]{version}, "$dir/\x{e9}\x{1f600} \"\\\t$x$x $x$x $x$x$x $x$x$x$x $x$x", 'and names the file');

# A file that may not grow is an error like others.
my $long = spew("$dir/long", join '', map { pack 'N', $_ * 2654435761 % 2**32 } 1 .. 100_000);
for my $o ([], ['-o', $out]) {
    unlink $out;
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        open STDERR, '>:raw', "$dir/stderr" or die;
        open STDOUT, '>:raw', "$dir/stdout" or die;
        exec '/bin/sh', '-c', 'ulimit -f 100; exec "$@"', 'sh', $tool, 'delta', '--if-block', $field, $long, @$o;
    }
    waitpid $pid, 0;
    is($?, 3 << 8, "a limit of the file's size: exit status (@$o)");
    like(slurp("$dir/stderr"), qr/\Acrcsync: .+: File too large\n\z/, 'and why');
    is_deeply([glob "$dir/out*"], [], 'no output file');
}

# A signal that ends the tool takes the unfinished file with it; one that is ignored does nothing.
for my $signal (qw(HUP INT PIPE TERM)) {
    for my $ignored (0, 1) {
        spew($out, 'older');
        pipe my $read, my $write or die "pipe: $!\n";
        my $pid = fork // die "fork: $!\n";
        if (!$pid) {
            $SIG{$signal} = $ignored ? 'IGNORE' : 'DEFAULT';
            close $write;
            open STDIN, '<&', $read or die;
            exec $tool, 'delta', '--if-block', $field, '-', '-o', $out or die "$tool: $!\n";
        }
        close $read;
        my @unfinished;
        for (1 .. 3000) {
            last if @unfinished = glob "$dir/out.*";
            select undef, undef, undef, 0.01;
        }
        is(scalar @unfinished, 1, "SIG$signal: the file that is not finished");
        kill $signal, $pid;
        print {$write} $page if $ignored;
        close $write if $ignored;
        waitpid $pid, 0;
        my ($number) = grep { (split ' ', $Config::Config{sig_name})[$_] eq $signal } 1 .. 31;
        is($?, $ignored ? 0 : $number, "SIG$signal: " . ($ignored ? 'ignored' : 'it ends the tool'));
        is(slurp($out), $ignored ? $delta : 'older', "SIG$signal: the file in its place");
        is_deeply([glob "$dir/out.*"], [], "SIG$signal: no temporary file");
    }
}

done_testing;

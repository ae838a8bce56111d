# Other filters (C24): what would disable the client module is named when the server starts, and nothing else is.
use strict;
use warnings;

use CRCSync::ClientAlone;
use CRCSync::Delta qw(make_delta);
use CRCSync::Test;

my $n = CRCSync::ClientAlone::BLOCKS;
my @sections = (
    ['/early',  'SetOutputFilter early'                => qr/the filter early is put before CRCSYNC_DECODE, where it meets deltas/],
    ['/list',   'SetOutputFilter INFLATE;early'        => qr/the filter early is put before CRCSYNC_DECODE/],
    ['/self',   'SetOutputFilter CRCSYNC_DECODE'       => qr/CRCSYNC_DECODE has no effect: CRCSyncClient On adds the filter/],
    ['/next',   'SetOutputFilter next'],
    ['/usual',  'SetOutputFilter INFLATE;SUBSTITUTE;DEFLATE'],
    ['/coding', 'RequestHeader set Accept-Encoding br'],
    ['/type',   'AddOutputFilterByType DEFLATE text/html'],
    ['/on',     "CRCSyncClient On\n    SetOutputFilter INFLATE"],
    ['/off',    "CRCSyncClient Off\n    SetOutputFilter early"],
);
my $alone = CRCSync::ClientAlone->start(
    modules => [qw(ext_filter filter substitute)],
    conf    => qq{ExtFilterDefine early mode=output ftype=8 cmd="/usr/bin/tr a-z A-Z"\n}
        . qq{ExtFilterDefine next mode=output ftype=9 cmd="/usr/bin/tr a-z A-Z"\n}
        . join('', map { "<Location $_->[0]>\n    $_->[1]\n</Location>\n" } @sections)
);
my %seen;    # httpd reads its configuration twice
my @warnings = grep { !$seen{$_}++ } map { /crcsync: (\S+httpd\.conf, line \d+: .*)/ ? $1 : () }
    split /\n/, slurp($alone->client->dir . '/error.log');
my @conf = split /\n/, slurp($alone->client->dir . '/httpd.conf');
for my $section (@sections) {
    my ($path, $text, $why) = @$section;
    my ($directive) = reverse split /\n\s*/, $text;
    my ($at) = grep { $conf[$_ - 1] eq "<Location $path>" } 1 .. @conf;
    my ($line) = grep { $conf[$_ - 1] eq "    $directive" } $at .. @conf;
    my ($warning) = grep { /httpd\.conf, line $line: / } @warnings;
    if ($why) { like($warning, qr/^\S+, line $line: \w+: $why/, "C24: a warning at start: $path, $directive") }
    else { is($warning, undef, "C24: no warning at start: $path, $directive") }
}
is(scalar @warnings, 3, 'C24: and no other warnings');
expect_log(qr/crccache_client:warn.* crcsync: \S+httpd\.conf, line \d+: /);

# What is warned of is what does harm: a filter before ours would change deltas, so none is asked for.
my $base = text(20_000, 1);
for my $case (['/early', 1, 'full', 'filter-order'], ['/next', 1, 'delta'], ['/self', 1, 'delta'], ['/usual', 1, 'delta']) {
    my ($target, $requests, $result, $reason) = @$case;
    my $upper = $target =~ /early|next/;
    my @children = $alone->client->children;
    $alone->full($target, body => $base, fields => ['Content-Type' => 'text/html']);
    $alone->body_ok($target, $upper ? uc $base : $base, "C24: $target: the page");
    $alone->requests;
    my ($delta, $new) = make_delta($base, $n, 'new', map { [$_] } 0 .. $n - 1);
    $alone->full($target, body => $new, fields => ['Content-Type' => 'text/html']);
    $alone->delta($target, $delta);
    $alone->body_ok($target, $upper ? uc $new : $new, "C24: $target: the changed page");
    is(scalar(my @all = $alone->requests), $requests, "C24: $target: requests");
    is($alone->note('result'), $result, "C24: $target: $result");
    is($alone->note('reason'), $reason // '-', "C24: $target: the reason");
    my %now = map { $_ => 1 } $alone->client->children;
    is_deeply([grep { !$now{$_} } @children], [], "C24: $target: no child has died");
}

# A delta that nobody asked for can't be used, and the filter before ours has seen it: no page, but a clean error.
$alone->full('/early', body => 'X', fields => ['Content-Type' => 'text/html', 'Content-Encoding' => 'crcsync']);
$alone->requests;
is($alone->get('/early')->{status}, 502, 'C24: /early: a delta that was not asked for: 502');
is(scalar(my @asked = $alone->requests), 1, 'C24: /early: and it is not asked for again');
expect_log(qr/the upstream sends nothing that can be used/);

done_testing;

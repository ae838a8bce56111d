# The life of a page: first fetch, unchanged, changed, growing, shrinking, empty, tiny; what crosses the line for each.
use strict;
use warnings;

use CRCSync::Delta qw(apply_delta if_block sections);
use CRCSync::Pair;
use CRCSync::Test;

my $origin = CRCSync::Origin->start;
my $pair = CRCSync::Pair->start(to => $origin->port, client => "CRCSyncClientBlocks 40\n");
my @type = ('Content-Type' => 'text/html; charset=utf-8');

my $base;    # what the client module should have
my $fetches = 0;

# Puts a page, fetches it, and checks both what the reader gets and what crossed the line.
sub turn {
    my ($name, $page, $most, @more) = @_;
    $origin->put('/page', body => $page, fields => [@type], @more);
    my ($response, @exchanges) = $pair->body_ok('/page', $page, $name);
    is(@exchanges, 1, "$name: one exchange on the line");
    my ($request, $answer) = @{$exchanges[-1]}{qw(request response)};
    my $value = field($request, 'If-Block');
    is($value, defined $base ? if_block($base, 40) : undef, "C25: $name: If-Block tells of the newest instance");
    is(field($answer, 'Capability'), 'crcsync; m=1', "$name: Capability");
    like(field($answer, 'Vary'), qr/\bIf-Block\b/, "$name: Vary between the modules");
    is(field($response, $_), undef, "$name: no $_ towards the reader") for qw(Capability Vary Content-Encoding If-Block);
    if (defined $base) {
        is(field($answer, 'Content-Encoding'), 'crcsync', "$name: a delta");
        is_body(apply_delta($answer->{body}, $base, 40), $page, "$name: the delta gives the page");
    }
    cmp_ok(length $answer->{raw}, '<=', $most, "$name: bytes of body on the line");
    my $client = $pair->client->last_log(++$fetches);
    my $server = $pair->server->last_log($fetches);
    for my $log ($client, $server) {
        is($log->{result}, defined $base ? 'delta' : 'full', "$name: noted result");
        is($log->{'wire-bytes'}, length $answer->{body}, "$name: noted wire bytes");
        is($log->{'instance-bytes'}, length $page, "$name: noted instance bytes") if defined $base;
    }
    is($client->{base}, defined $base ? 'self' : 'none', "$name: noted base");
    is($client->{reason}, defined $base ? '-' : 'no-base', "$name: noted reason");
    is($client->{'request-bytes'}, length "If-Block: $value\r\n", "$name: noted request bytes") if defined $value;
    $base = $page;
    return $answer;
}

my $page = text(100_000, 1);
turn('first fetch', $page, 110_000);
my $answer = turn('unchanged', $page, 200);
is(join('', map { $_->[0] } sections($answer->{body})), 'B' x 40 . 'S', 'unchanged: all blocks, then the strong hash');
turn('unchanged again', $page, 200);
substr $page, 50_000, 10, 'CHANGED...';
turn('one change', $page, 3_000);
turn('a change at the very start', 'X' . substr($page, 1), 3_000);
turn('a change at the very end', $page . 'more', 3_000);
turn('growing at the top', text(5_000, 2) . $page, 6_000);
turn('growing in the middle', substr($page, 0, 60_000) . text(3_000, 3) . substr($page, 60_000), 6_000);
turn('shrinking', substr($page, 0, 30_000), 3_000);
turn('growing a lot', text(200_000, 4) . $page, 120_000);
turn('a whole new page', text(80_000, 5), 40_000);
turn('chunked', text(80_000, 5) . 'x', 3_000, chunked => 1);

is(scalar(grep { defined field($_, 'If-Block') } $origin->requests), 0, 'the origin never sees If-Block');

done_testing;

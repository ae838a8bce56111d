# Pages that have no bytes, or too few for a base.
use strict;
use warnings;

use CRCSync::Pair;
use CRCSync::Test;

my $origin = CRCSync::Origin->start;
my $pair = CRCSync::Pair->start(to => $origin->port);
my $page = text(20_000);

for my $body ('', 'x', 'a few bytes', text(1023), text(1024), text(1025)) {
    my $size = length $body;
    my $target = "/$size";
    for my $chunked (0, 1) {
        $origin->put($target, body => $body, fields => ['Content-Type' => 'text/plain'], chunked => $chunked);
        my $how = $chunked ? 'chunked' : 'with a length';
        $pair->same_ok(GET => $target, "C10: $size bytes, $how, fetch $_") for 1 .. 3;
    }
}
my ($log) = grep { $_->{url} eq '/1' } $pair->client->log(36);
is($log->{result}, 'full', 'a tiny page is no delta');

# A page becomes empty or tiny, and large again: a delta against the old page, or a full response, but right.
for my $body ($page, '', $page, 'x', $page, $page) {
    $origin->put('/page', body => $body, fields => ['Content-Type' => 'text/plain']);
    $pair->same_ok(GET => '/page', 'C10: ' . length($body) . ' bytes');
}

for my $status (204, 304, 205) {
    $origin->put("/status/$status", status => $status, fields => [ETag => '"a"']);
    $pair->same_ok(GET => "/status/$status", "C10: status $status, fetch $_") for 1 .. 2;
}

done_testing;

# C28: a crowd of readers, all of one page that changes: every body is one that the origin sends, nobody waits for ever, no
# base is damaged, no child dies.
use strict;
use warnings;

use CRCSync::Pair;
use CRCSync::Readers;
use CRCSync::Stamped;
use CRCSync::Test;

my $origin = CRCSync::Stamped->origin(6_000);
# A busy httpd closes kept connections when it likes, and mod_proxy, with and without our modules, answers 502 when that
# happens just as it asks. So none is kept.
my $pair = CRCSync::Pair->start(to => $origin->port, client => "SetEnv proxy-nokeepalive 1\n");
http_get($pair->port, '/page');

my ($count, $fetches) = (soak(fast => 60, full => 500), soak(fast => 3, full => 20));
my $readers = CRCSync::Readers->start(port => $pair->port, targets => ['/page'], count => $count, fetches => $fetches);
my %sum = $readers->wait;
is($sum{$_}, 0, "C28: $count readers of one page: $_") for qw(wrong errors broken);
is($sum{right}, $count * $fetches, "C28: $count readers of one page: right");
figure("$count readers of one changing page, right bodies" => $sum{right});
my @deltas = grep { $_->{result} eq 'delta' } $pair->client->log($count * $fetches);
cmp_ok(scalar @deltas, '>', 0, 'C28: there were deltas') and note(scalar(@deltas) . ' deltas');

for my $fetch (1 .. 2) {
    my ($response, @exchanges) = $pair->get('/page');
    ok(CRCSync::Stamped::version('/page', $response->{body}), "C28: afterwards, fetch $fetch: a right page");
    is(field($exchanges[-1]{response}, 'Content-Encoding'), 'crcsync', "C28: afterwards, fetch $fetch: a delta");
}

allow_log(qr/MaxRequestWorkers|scoreboard/);
done_testing;

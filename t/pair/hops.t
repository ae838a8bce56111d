# Two pairs in a row, in both ways that happens: a middle proxy with both modules, and pairs that know nothing of each
# other.
use strict;
use warnings;

use CRCSync::Pair;
use CRCSync::Test;

my $origin = CRCSync::Origin->start;
my @type = ('Content-Type' => 'text/html', ETag => '"1"');

# reader - client - line - middle (server and client) - line - server - origin
my $far = CRCSync::Httpd->start(
    name    => 'far',
    without => ['crccache_client'],
    vars    => {TO => $origin->port},
    conf    => CRCSync::Pair::server_conf(),
);
my $far_line = CRCSync::Relay->start(to => $far->port);
my $middle = CRCSync::Httpd->start(
    name => 'middle',
    vars => {TO => $far_line->port},
    conf => CRCSync::Pair::client_conf() . "CRCSyncServer On\n",
);
my $near_line = CRCSync::Relay->start(to => $middle->port);
my $near = CRCSync::Httpd->start(
    name    => 'near',
    without => ['crccache_server'],
    vars    => {TO => $near_line->port},
    conf    => CRCSync::Pair::client_conf(),
);
my $pair = CRCSync::Pair->of(to => $origin->port, client => $near, relay => $near_line);
my $page = text(60_000);
for my $turn (1 .. 5) {
    substr $page, 2_000 * $turn, 6, "turn $turn";
    $origin->put('/page', body => $page, fields => [@type], conditional => 0);
    my (undef, @near) = $pair->same_ok(GET => '/page', "middle proxy, fetch $turn");
    my @far = $far_line->exchanges;
    next if $turn == 1;
    is(field($_->[1][-1]{response}, 'Content-Encoding'), 'crcsync', "fetch $turn: a delta on the $_->[0] line")
        for [near => \@near], [far => \@far];
}
$origin->put('/page', body => $page, fields => [@type], conditional => 1);
$pair->same_ok(GET => '/page', 'a conditional', fields => ['If-None-Match' => '"1"']);
$pair->same_ok(HEAD => '/page', 'HEAD');
is(scalar(grep { defined field($_, 'If-Block') } $origin->requests), 0, 'no If-Block at the origin');

# Two client proxies before one server proxy: the nearer one's If-Block passes the other untouched, and its delta too.
my $inner = CRCSync::Pair->start(to => $origin->port);
my $outer_line = CRCSync::Relay->start(to => $inner->port);
my $outer = CRCSync::Httpd->start(
    name    => 'outer',
    without => ['crccache_server'],
    vars    => {TO => $outer_line->port},
    conf    => CRCSync::Pair::client_conf(),
);
my $two = CRCSync::Pair->of(to => $origin->port, client => $outer, relay => $outer_line);
for my $turn (1 .. 4) {
    substr $page, 3_000 * $turn, 6, "pass $turn";
    $origin->put('/page', body => $page, fields => [@type]);
    my (undef, @exchanges) = $two->same_ok(GET => '/page', "two client modules, fetch $turn");
    my @inner = $inner->relay->exchanges;
    next unless defined field($exchanges[0]{request}, 'If-Block');
    is(field($inner[0]{request}, 'If-Block'), field($exchanges[0]{request}, 'If-Block'), "fetch $turn: If-Block passes");
    is_body($inner[0]{response}{body}, $exchanges[0]{response}{body}, "fetch $turn: and the delta");
}

done_testing;

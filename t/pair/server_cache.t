# A cache in the server proxy: deltas are made of what it holds, and none is ever stored in it.
use strict;
use warnings;

use CRCSync::Delta qw(if_block apply_delta);
use CRCSync::Pair;
use CRCSync::Test;
use HTTP::Date qw(time2str);

for my $quick ('On', 'Off') {
    my $origin = CRCSync::Origin->start;
    my $pair = CRCSync::Pair->start(
        to     => $origin->port,
        server => qq{CacheEnable disk "/"\nCacheHeader On\nCacheQuickHandler $quick\n},
    );
    my $page = text(50_000);
    my $put = sub {
        my ($target, $tag, $age) = @_;
        my @fields = ('Content-Type' => 'text/html', Date => time2str(), ETag => "\"$tag\"", 'Cache-Control' => "max-age=$age");
        $origin->put($target, body => $page, fields => \@fields, conditional => 1);
        $origin->requests;
    };
    $put->('/page', 1, 3600);
    my $name = "quick handler $quick";
    # Plain and for If-Block (which asks for identity) may be two entities there: both must have come to be.
    $pair->body_ok('/page', $page, "$name: first fetch");
    my (undef, @exchanges) = $pair->body_ok('/page', $page, "$name: second fetch");
    is(field($exchanges[0]{response}, 'Content-Encoding'), 'crcsync', "$name: a delta");
    CRCSync::Work::wait_for(
        'a hit in the server proxy',
        sub {
            (undef, @exchanges) = $pair->get('/page');
            return (field($exchanges[0]{response}, 'X-Cache') // '') =~ /^HIT/;
        }
    );
    $origin->requests;
    (undef, @exchanges) = $pair->body_ok('/page', $page, "$name: from the cache");
    is(scalar(my @none = $origin->requests), 0, "$name: the origin is not asked");
    my $answer = $exchanges[0]{response};
    is(field($answer, 'Content-Encoding'), 'crcsync', "$name: and yet a delta");
    like(field($answer, 'Vary'), qr/If-Block/, "$name: with the Vary of all others");

    # Another client with another base, and one without any, get what is right for them from the same cache.
    my $other = text(30_000, 9) . substr $page, 20_000;
    my $delta = http_get($pair->server->port, '/page', 'If-Block' => if_block($other, 16), 'Accept-Encoding' => 'gzip');
    is(field($delta, 'Content-Encoding'), 'crcsync', "$name: a delta for another base");
    is_body(apply_delta($delta->{body}, $other, 16), $page, "$name: is of that base");
    for (1 .. 2) {
        my $plain = http_get($pair->server->port, '/page');
        is(field($plain, 'Content-Encoding'), undef, "$name: without If-Block no delta");
        is_body($plain->{body}, $page, "$name: but the page");
        is(field($plain, 'ETag'), '"1"', "$name: with its own tag");
    }

    # Stale in the cache: unchanged, then changed, and so on.
    for my $turn (1 .. 6) {
        substr $page, 700, 6, "turn $turn" if $turn % 2;
        $put->('/stale', int(($turn + 1) / 2), 0);
        (undef, @exchanges) = $pair->body_ok('/stale', $page, "$name: stale, fetch $turn");
        next if $turn == 1;
        is(field($exchanges[0]{response}, 'Content-Encoding'), 'crcsync', "$name: stale, fetch $turn: a delta");
        like(field($exchanges[0]{response}, 'ETag'), qr/^"\d-crcsync-identity"$/, "$name: stale, fetch $turn: its tag");
    }
    my ($conditional) = $pair->get('/stale', 'If-None-Match' => '"3"');
    is($conditional->{status}, 304, "$name: a conditional");
    $_->stop for $pair->client, $pair->server, $pair->relay;
}

done_testing;

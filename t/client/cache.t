# mod_cache beside the module: through the provider `crcsync`, through `disk`, with the quick handler and without.
use strict;
use warnings;

use CRCSync::ClientAlone;
use CRCSync::Delta qw(make_delta);
use CRCSync::Test;
use HTTP::Date qw(time2str);

my $n = CRCSync::ClientAlone::BLOCKS;
my @all = map { [$_] } 0 .. $n - 1;

for my $provider ('crcsync', 'disk', 'crcsync disk') {
    for my $quick ('On', 'Off') {
        my $alone = CRCSync::ClientAlone->start(
            conf => join('', map { qq{CacheEnable $_ "/"\n} } reverse split ' ', $provider)
                . "CacheQuickHandler $quick\nCacheHeader On\n",
        );
        my $what = "$provider, quick handler $quick";
        my @fields = ('Content-Type' => 'text/html', Date => time2str());
        my $base = text(40_000, 1);

        # Fresh: the upstream is asked once.
        $alone->full('/fresh', body => $base, fields => [@fields, ETag => '"1"', 'Cache-Control' => 'max-age=3600']);
        $alone->body_ok('/fresh', $base, "$what: fresh");
        $alone->requests;
        my $response = http_get($alone->port, '/fresh');
        is_body($response->{body}, $base, "$what: fresh, from the cache");
        like(field($response, 'X-Cache') // '', qr/^HIT/, "$what: a hit") if $provider eq 'crcsync';
        my @none = $alone->requests;
        is(scalar @none, 0, "$what: nothing was asked");
        is(field($response, $_), undef, "$what: no $_") for qw(Vary Capability Content-Encoding);
        $alone->{fetches}++;

        # Codings: the cache files the entity under what the reader accepts, not under what the upstream was asked for.
        my @varies = (@fields, 'Cache-Control' => 'max-age=3600', Vary => 'Accept-Encoding, If-Block');
        $alone->full('/varies', body => $base, fields => [@varies]);
        my @accept = ('Accept-Encoding' => 'br, gzip');
        $alone->body_ok('/varies', $base, "$what: a variant", @accept);
        is(field(($alone->requests)[0], 'Accept-Encoding'), 'gzip', "$what: a variant: the upstream was asked for less");
        $response = http_get($alone->port, '/varies', @accept);
        $alone->{fetches}++;
        is_body($response->{body}, $base, "$what: a variant, from the cache");
        is(field($response, 'Vary'), 'Accept-Encoding', "$what: a variant: Vary");
        is(scalar(@none = $alone->requests), 0, "$what: a variant: nothing was asked");

        # Stale and changed: a delta, with mod_cache's conditional beside If-Block.
        my @stale = (@fields, 'Cache-Control' => 'max-age=0');
        $alone->full('/stale', body => $base, fields => [@stale, ETag => '"0"']);
        $alone->body_ok('/stale', $base, "$what: stale, first");
        my $old = $base;
        for my $turn (1 .. 3) {
            my ($delta, $new) = make_delta($old, $n, "turn $turn", @all);
            $alone->requests;
            $alone->delta('/stale', $delta, @stale, ETag => "\"$turn-crcsync-identity\"");
            $response = $alone->body_ok('/stale', $new, "$what: stale, turn $turn");
            is(field($response, 'ETag'), "\"$turn\"", "$what: stale, turn $turn: the new tag");
            is(field($response, 'Content-Length'), length $new, "$what: stale, turn $turn: the length");
            my @requests = $alone->requests;
            is(scalar @requests, 1, "$what: stale, turn $turn: one request");
            is(field($requests[0], 'If-None-Match'), '"' . ($turn - 1) . '"', "$what: stale, turn $turn: revalidation");
            $old = $new;
        }

        # Stale and unchanged: 304 upstream, all bytes to the reader.
        my ($delta) = make_delta($old, $n, @all);
        $alone->with_if_block('/stale', status => 304,
            fields => [@stale, ETag => '"3"', Vary => 'If-Block', Capability => 'crcsync; m=1']);
        for my $turn (1 .. 2) {
            $response = $alone->body_ok('/stale', $old, "C05: $what: unchanged, turn $turn");
            is(field($response, $_), undef, "$what: unchanged, turn $turn: no $_") for qw(Vary Capability);
            is($alone->note('result'), 'not-modified', "$what: unchanged, turn $turn: noted");
        }

        # Stale, and the delta is corrupt: the second fetch carries mod_cache's conditional too, and mod_cache still knows
        # of it: a 304 is not for the reader (C05).
        $alone->requests;
        $alone->with_if_block('/stale', body => 'X', fields => [@stale, 'Content-Encoding' => 'crcsync']);
        $alone->full('/stale', body => $base, fields => [@stale, ETag => '"4"'], conditional => 1);
        $response = $alone->body_ok('/stale', $base, "$what: a corrupt delta");
        is(field($response, 'ETag'), '"4"', "$what: a corrupt delta: the tag");
        my @requests = $alone->requests;
        is(scalar @requests, 2, "$what: a corrupt delta: two requests");
        is(field($requests[0], 'If-None-Match'), '"3"', "C05: $what: a corrupt delta: mod_cache's conditional");
        is(field($requests[1], 'If-Block'), undef, "$what: a corrupt delta: no If-Block");
        is(field($requests[1], 'If-None-Match'), '"3"', "C05: $what: a corrupt delta: the same conditional");
        my ($new_delta, $new) = make_delta($base, $n, 'after that', @all);
        $alone->delta('/stale', $new_delta, @stale, ETag => '"5-crcsync-identity"');
        $response = $alone->body_ok('/stale', $new, "$what: after a corrupt delta");
        is(field($response, 'ETag'), '"5"', "$what: after a corrupt delta: the tag");
        is(field(($alone->requests)[0], 'If-None-Match'), '"4"', "$what: after a corrupt delta: the new entity is cached");

        # The page of the second fetch is the one that the cache has: his 304 is mod_cache's, and the reader gets the page.
        $alone->with_if_block('/stale', body => 'X', fields => [@stale, 'Content-Encoding' => 'crcsync']);
        $alone->full('/stale', body => $new, fields => [@stale, ETag => '"5"'], conditional => 1);
        $alone->body_ok('/stale', $new, "C05: $what: a corrupt delta, and a 304 after it");
        $alone->requests;
        $alone->body_ok('/stale', $new, "$what: after that");
        is(field(($alone->requests)[0], 'If-None-Match'), '"5"', "$what: after that: the entity is still cached");

        # The same for a reader with a conditional and a range of his own.
        $alone->with_if_block('/stale', body => 'X', fields => [@stale, 'Content-Encoding' => 'crcsync']);
        $alone->full('/stale', status => 304, fields => [@stale, ETag => '"6"']);
        $response = $alone->get('/stale', 'If-None-Match' => '"6"');
        is($response->{status}, 304, "$what: a corrupt delta for a conditional request: 304");
        is($response->{body}, '', "$what: a corrupt delta for a conditional request: no body");

        # What the second fetch gives is cached, also where the page came in one piece, or the upstream had broken off.
        my $small = text(4_000, 5);
        my @upstream = (['corrupt', body => 'X'], ['cut', close => 1,
            raw => "HTTP/1.1 200 OK\r\nContent-Encoding: crcsync\r\nContent-Length: 9\r\n\r\nL"]);
        for my $case (@upstream) {
            my ($name, %answer) = @$case;
            $alone->full("/$name", body => $small, fields => [@stale, ETag => '"1"']);
            $alone->body_ok("/$name", $small, "$what, $name: a base");
            $alone->with_if_block("/$name", fields => [@stale, 'Content-Encoding' => 'crcsync'], %answer);
            $alone->full("/$name", body => $small, fields => [@stale, ETag => '"2"']);
            $alone->body_ok("/$name", $small, "$what, $name: by a second fetch");
            $alone->requests;
            $alone->with_if_block("/$name", body => $small, fields => [@stale, ETag => '"3"']);
            $alone->body_ok("/$name", $small, "$what, $name: afterwards");
            is(field(($alone->requests)[0], 'If-None-Match'), '"2"', "$what, $name: the second fetch's entity is cached");
        }
        $alone->client->stop;
    }
}
expect_log(qr/the delta gives no instance/);
allow_log(qr/AH01110/);
done_testing;

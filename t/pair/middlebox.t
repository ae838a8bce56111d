# Something between the modules takes a field away (C40), one at a time: the right page, or a clean error.
use strict;
use warnings;

use CRCSync::Pair;
use CRCSync::Test;

my $origin = CRCSync::Origin->start;
my $pair = CRCSync::Pair->start(to => $origin->port);
my @type = ('Content-Type' => 'text/html');
my $turn = 0;

for my $strip ([], ['If-Block'], ['Vary'], ['ETag'], ['Capability'], ['Content-Encoding'], ['Accept-Encoding'],
    ['Vary', 'Capability', 'ETag'], ['Content-Type'], ['Content-Length'])
{
    my $name = @$strip ? "C40: without @$strip" : 'C40: an honest line';
    for my $tag (1, 0) {
        # A delta stripped of Content-Encoding is known by its tag: without one nobody could tell.
        next if !$tag && grep { $_ eq 'Content-Encoding' } @$strip;
        my $target = '/page' . ++$turn;
        my $page = text(40_000, $turn);
        for my $fetch (1 .. 4) {
            substr $page, 3_000 * $fetch, 7, "fetch $fetch";
            $origin->put($target, body => $page, fields => [@type, $tag ? (ETag => "\"$fetch\"") : ()], conditional => 1);
            # The base is there before the middlebox comes.
            $pair->relay->change(strip => $strip) if $fetch == 3;
            my ($response) = $pair->get($target);
            my $what = "$name, " . ($tag ? 'with' : 'without') . " a tag, fetch $fetch";
            is($response->{status}, 200, "$what: status");
            is_body($response->{body}, $page, "$what: bytes");
            is(field($response, 'ETag'), $tag ? "\"$fetch\"" : undef, "$what: the origin's tag")
                unless $fetch > 2 && grep { $_ eq 'ETag' } @$strip;
        }
        $pair->relay->change;
        $pair->body_ok($target, $page, "$name: after it");
    }
}
# The connection that the relay's end breaks may be one that httpd keeps.
allow_log(qr/AH01102|AH01110|AH00898|AH00957|AH10292|AH01114|prematurely|Connection refused|error reading/);

done_testing;

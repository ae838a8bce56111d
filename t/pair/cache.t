# CacheEnable crcsync: fresh pages from the cache, stale ones revalidated with a delta or a 304.
use strict;
use warnings;

use CRCSync::Pair;
use CRCSync::Test;
use HTTP::Date qw(time2str);

my $origin = CRCSync::Origin->start;
my $pair = CRCSync::Pair->start(
    to     => $origin->port,
    client => <<'END',
CacheEnable crcsync "/"
CacheHeader On
CacheQuickHandler Off
CacheMaxFileSize 10000000
END
);
my @type = ('Content-Type' => 'text/html');

sub put {
    my ($target, $page, $tag, $age, @more) = @_;
    my @fields = (@type, Date => time2str(), ETag => "\"$tag\"", 'Cache-Control' => "max-age=$age", @more);
    $origin->put($target, body => $page, fields => \@fields, conditional => 1);
    $origin->requests;
    return;
}

# httpd stores after the reader has the page: wait until the cache knows it.
sub settle { select undef, undef, undef, 0.3; return }

# Fresh: the second fetch does not leave the client proxy.
my $page = text(50_000);
put('/fresh', $page, 1, 3600);
$pair->body_ok('/fresh', $page, 'fresh, first fetch');
CRCSync::Work::wait_for('a fresh hit', sub { (field(($pair->get('/fresh'))[0], 'X-Cache') // '') =~ /^HIT/ });
$origin->requests;
$pair->relay->exchanges;
my ($response, @exchanges) = $pair->body_ok('/fresh', $page, 'fresh, from the cache');
like(field($response, 'X-Cache'), qr/^HIT/, 'a hit');
is(scalar @exchanges, 0, 'nothing crosses the line');
is(field($response, $_), undef, "no $_ towards the reader") for qw(Capability Vary Content-Encoding);
is(field($response, 'ETag'), '"1"', 'the origin\'s tag');
my ($conditional) = $pair->get('/fresh', 'If-None-Match' => '"1"');
is($conditional->{status}, 304, 'a conditional is answered from the cache');

# Stale and changed: one request with our If-Block and mod_cache's conditional, a delta, a whole page.
put("/stale", $page, 1, 0);
$pair->body_ok('/stale', $page, 'stale, first fetch');
for my $turn (2 .. 5) {
    settle();
    substr $page, 3_000 * $turn, 6, "turn $turn";
    put('/stale', $page, $turn, 0);
    ($response, @exchanges) = $pair->body_ok('/stale', $page, "stale and changed, fetch $turn");
    is(scalar @exchanges, 1, "fetch $turn: one exchange");
    is(field($exchanges[0]{response}, 'Content-Encoding'), 'crcsync', "fetch $turn: a delta");
    cmp_ok(length $exchanges[0]{response}{raw}, '<', 3_000, "fetch $turn: bytes on the line");
    is(field($response, 'ETag'), "\"$turn\"", "fetch $turn: the new tag");
    is(field(($origin->requests)[0], 'If-None-Match'), '"' . ($turn - 1) . '"', "fetch $turn: revalidated by mod_cache");
}

# Stale and unchanged: a 304 on the line, a 200 for who asked unconditionally, with all bytes.
for my $turn (1 .. 3) {
    settle();
    put('/stale', $page, 5, 0);
    ($response, @exchanges) = $pair->body_ok('/stale', $page, "stale and unchanged, fetch $turn");
    is($exchanges[0]{response}{status}, 304, "fetch $turn: 304 on the line");
    is(field($response, $_), undef, "fetch $turn: no $_ towards the reader") for qw(Capability Vary Content-Encoding);
}

# After a 304 the page changes once more: the base is what the cache has.
settle();
substr $page, 100, 9, 'after 304';
put('/stale', $page, 6, 0);
(undef, @exchanges) = $pair->body_ok('/stale', $page, 'changed after a 304');
is(field($exchanges[0]{response}, 'Content-Encoding'), 'crcsync', 'a delta');

# What mod_cache may not store is a base all the same.
my $dynamic = text(50_000, 7);
for my $turn (1 .. 3) {
    substr $dynamic, 1_000 * $turn, 6, "turn $turn";
    $origin->put('/dynamic?q=1', body => $dynamic, fields => [@type, 'Cache-Control' => 'no-cache']);
    (undef, @exchanges) = $pair->body_ok('/dynamic?q=1', $dynamic, "not cacheable, fetch $turn");
    is(field($exchanges[0]{response}, 'Content-Encoding'), $turn > 1 ? 'crcsync' : undef, "not cacheable, fetch $turn");
}

# Two variants by Accept-Language, fresh and stale.
my %page = (de => text(30_000, 8), en => text(30_000, 9));
my $languages = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        my $language = CRCSync::Stream::field($request, 'Accept-Language');
        my @fields = (@type, Date => time2str(), ETag => "\"$language\"", 'Cache-Control' => 'max-age=0',
            Vary => 'Accept-Language');
        my $match = CRCSync::Stream::field($request, 'If-None-Match') // '';
        my @answer = $match eq "\"$language\"" ? (status => 304) : (body => $page{$language});
        $connection->send(CRCSync::Origin::response(@answer, fields => \@fields));
    }
);
my $two = CRCSync::Pair->start(to => $languages->port, client => qq{CacheEnable crcsync "/"\n});
for my $turn (1 .. 4) {
    for my $language (qw(de en)) {
        my ($response) = $two->body_ok('/page', $page{$language}, "$language, fetch $turn", 'Accept-Language' => $language);
        is(field($response, 'Vary'), 'Accept-Language', "$language, fetch $turn: Vary as the origin's");
        settle();
    }
}

# HEAD, and a client that asks to bypass.
put('/head', $page, 1, 3600);
$pair->body_ok('/head', $page, 'before HEAD');
settle();
my ($head) = $pair->request(HEAD => '/head');
is($head->{status}, 200, 'HEAD');
$pair->body_ok('/head', $page, 'after HEAD');
$pair->body_ok('/head', $page, 'Cache-Control: no-cache', 'Cache-Control' => 'no-cache');

done_testing;

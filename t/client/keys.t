# Under which key a base is kept (C27, C29): the upstream URI after mapping, Host where it is passed on, and what Vary
# names. Never is a base offered to another scheme, host or port.
use strict;
use warnings;

use CRCSync::ClientAlone;
use CRCSync::Delta qw(if_block make_delta literal strong);
use CRCSync::Test;
use File::Find ();

my $n = CRCSync::ClientAlone::BLOCKS;
my %page = map { $_ => text(10_000, $_) } 1 .. 9;
my @html = ('Content-Type' => 'text/html');

sub base_of {
    my ($request) = @_;
    my $sent = field($request, 'If-Block') // return 'none';
    for my $key (keys %page) {
        return $key if $sent eq if_block($page{$key}, $n);
    }
    return 'unknown';
}

sub same { return (make_delta($_[0], $n, map { [$_] } 0 .. $n - 1))[0] }

# What an origin with the server module says: a delta to If-Block. Where it brought none, it would not be sent next time.
sub answer {
    my ($request, $page, @fields) = @_;
    @fields = (@html, @fields);
    my $sent = CRCSync::Stream::field($request, 'If-Block');
    return CRCSync::Origin::response(body => $page, fields => \@fields) unless defined $sent;
    my $delta = $sent eq if_block($page, $n) ? same($page) : literal($page) . strong($page);
    return CRCSync::Origin::response(body => $delta, fields => [@fields, 'Content-Encoding' => 'crcsync']);
}

# --- the URI: query, mapping, upstream
my $other = CRCSync::Origin->start;
my $alone = CRCSync::ClientAlone->start(
    vars    => {OTHER => $other->port},
    modules => ['ssl'],
    conf    => <<'END',
RewriteEngine On
RewriteRule ^/other/(.*)$ http://127.0.0.1:@OTHER@/$1 [P]
RewriteRule ^/alias/(.*)$ http://127.0.0.1:@TO@/$1 [P]
RewriteRule ^/name/(.*)$ http://localhost:@TO@/$1 [P]
RewriteRule ^/tls/(.*)$ https://127.0.0.1:@TO@/$1 [P]
SSLProxyEngine On
END
);
$alone->base_ok('/page', $page{1});
$alone->delta('/page', same($page{1}));
my @asks = (
    ['/page?a=1', 'none', '/page?a=1'],
    ['/page?a=2', 'none', '/page?a=2'],
    ['/Page',     'none', '/Page'],
    ['/page',     1,      '/page'],
    ['/alias/page', 1,    '/page'],
    ['/name/page', 'none', '/page'],
);
$alone->full($_, body => $page{1}, fields => [@html]) for '/page?a=1', '/page?a=2', '/Page';
for my $ask (@asks) {
    my ($target, $base, $upstream) = @$ask;
    $alone->body_ok($target, $page{1}, $target);
    my ($request) = $alone->requests;
    is($request->{target}, $upstream, "$target goes to $upstream");
    is(base_of($request), $base, "C27: $target: base");
}
$other->put('/page', body => $page{2}, fields => [@html]);
$alone->body_ok('/other/page', $page{2}, 'the same path at another port');
is(base_of(($other->requests)[0]), 'none', 'C27: the same path at another port: no base');
$alone->body_ok('/other/page', $page{2}, 'the same path at another port, again');
is(base_of(($other->requests)[0]), 2, 'the same path at another port: its own base');
$alone->body_ok('/page', $page{1}, 'and the first is still there');
is(base_of(($alone->requests)[0]), 1, 'with its base');

# The same host and port by another scheme: nobody answers there, but it would have been asked without the base.
my $tls = $alone->get('/tls/page');
cmp_ok($tls->{status}, '>=', 500, 'C27: another scheme: no answer');
is($alone->note('base'), 'none', 'C27: another scheme: no base');
$alone->requests;
$alone->body_ok('/page', $page{1}, 'after another scheme');
is($alone->note('base'), 'self', 'C27: after another scheme: the base is there');
$alone->requests;
allow_log(qr/ssl:|proxy:error|proxy_http:error|AH0/);

# A Host field that lies changes nothing: it is not passed on.
$alone->body_ok('/page', $page{1}, 'a spoofed Host', Host => 'elsewhere.example');
is(base_of(($alone->requests)[0]), 1, 'C27: a spoofed Host: the upstream\'s base');

# SetHandler "proxy:...": httpd appends the file's name.
$alone = CRCSync::ClientAlone->start(
    proxy => 0,
    conf  => qq{<Location "/handled">\n    SetHandler "proxy:http://127.0.0.1:\@TO\@"\n</Location>\n},
);
my $file = $alone->client->dir . '/htdocs/handled';
$alone->full("$file$_", body => $page{3}, fields => [@html]) for '', '?a=1', '?a=2';
for my $query ('', '?a=1', '?a=2') {
    $alone->body_ok("/handled$query", $page{3}, "SetHandler, turn $_$query") for 1, 2;
    my @requests = $alone->requests;
    is($requests[0]{target}, "$file$query", "SetHandler, $query: goes upstream");
    is(base_of($requests[0]), 'none', "C27: SetHandler, $query: no base at first");
    is(base_of($requests[1]), 3, "SetHandler, $query: then its own");
}

# --- ProxyPreserveHost: one upstream, many hosts
my %of_host = ('one.example' => 1, 'two.example' => 2);
my $hosts = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        my $host = CRCSync::Stream::field($request, 'Host');
        $connection->send(answer($request, $page{$of_host{$host}}));
    }
);
my $preserve = CRCSync::Httpd->start(
    name    => 'preserve',
    without => ['crccache_server'],
    vars    => {TO => $hosts->port},
    conf    => "ProxyPreserveHost On\nProxyPass / http://127.0.0.1:\@TO\@/\nCRCSyncClient On\nCRCSyncClientBlocks $n\n",
);
for my $turn (1 .. 3) {
    for my $host (sort keys %of_host) {
        is_body(http_get($preserve->port, '/', Host => $host)->{body}, $page{$of_host{$host}}, "$host, turn $turn");
        is(base_of(($hosts->requests)[0]), $turn == 1 ? 'none' : $of_host{$host}, "C27: $host, turn $turn: base");
    }
}

# --- Vary
my $dir = CRCSync::Work::new_dir('vary');
my $languages = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        my $language = CRCSync::Stream::field($request, 'Accept-Language') // '-';
        my $page = -f "$dir/$language" ? slurp("$dir/$language") : $page{9};
        my $value = -e "$dir/vary" ? slurp("$dir/vary") : '';
        $connection->send(answer($request, $page, length $value ? (Vary => $value) : ()));
    }
);
my $varies = CRCSync::Httpd->start(
    name    => 'varies',
    without => ['crccache_server'],
    vars    => {TO => $languages->port},
    conf    => "ProxyPass / http://127.0.0.1:\@TO\@/\nCRCSyncClient On\nCRCSyncClientBlocks $n\n",
);

my $fetches = 0;

sub asked_ok {
    my ($name, $want, $base, @fields) = @_;
    $fetches++;
    my $response = http_get($varies->port, '/page', @fields);
    is_body($response->{body}, $page{$want}, "$name: bytes");
    is(base_of(($languages->requests)[0]), $base, "C27: $name: base");
    return $response;
}
spew("$dir/de", $page{1});
spew("$dir/en", $page{2});
spew("$dir/vary", 'Accept-Language, Accept-Encoding');
for my $turn (1 .. 3) {
    my ($de, $en, $none) = $turn == 1 ? ('none') x 3 : (1, 2, 9);
    my $response = asked_ok("de, turn $turn", 1, $de, 'Accept-Language' => 'de');
    is(field($response, 'Vary'), 'Accept-Language,Accept-Encoding', 'the origin\'s Vary');
    asked_ok("en, turn $turn", 2, $en, 'Accept-Language' => 'en');
    asked_ok("no language, turn $turn", 9, $none);
    # The coding that a reader takes is no variant of a base.
    asked_ok("de, gzip, turn $turn", 1, $turn == 1 ? 1 : $de, 'Accept-Language' => 'de', 'Accept-Encoding' => 'gzip');
}
# Two lines of a field are one value; an empty one is not none.
asked_ok('two lines', 9, 'none', 'Accept-Language' => 'x', 'Accept-Language' => 'y');
asked_ok('two lines in one', 9, 9, 'Accept-Language' => 'x, y');
asked_ok('an empty field', 9, 'none', 'Accept-Language' => '');

# The origin varies on something else from now on, then on nothing.
spew("$dir/vary", 'Cookie, accept-language');
asked_ok('another Vary, the old key', 1, 1, 'Accept-Language' => 'de');
asked_ok('another Vary, again', 1, 1, 'Accept-Language' => 'de');
asked_ok('another Vary, with a cookie', 1, 'none', 'Accept-Language' => 'de', Cookie => 'a=1');
asked_ok('another Vary, with the cookie again', 1, 1, 'Accept-Language' => 'de', Cookie => 'a=1');
spew("$dir/vary", '');
asked_ok('no Vary, the old key', 1, 1, 'Accept-Language' => 'de');
asked_ok('no Vary, any reader', 2, 1, 'Accept-Language' => 'en');
asked_ok('no Vary, the next one', 1, 2, 'Accept-Language' => 'de');
spew("$dir/vary", '*');
asked_ok('Vary: *', 1, 1, 'Accept-Language' => 'de');
spew("$dir/vary", join ', ', map { "X-Field-$_" } 1 .. 40);
asked_ok('a Vary too long to follow', 1, 1, 'Accept-Language' => 'de');
is($varies->last_log($fetches)->{reason}, 'store-limit', 'a Vary too long to follow: the reason');

# 300 variants: each reader gets his page, and the store does not grow with them.
spew("$dir/vary", 'Accept-Language');
my $files = sub {
    my @files;
    File::Find::find({no_chdir => 1, wanted => sub { push @files, $_ if -f }}, $varies->dir . '/cache');
    return scalar @files;
};
for my $variant (1 .. 300) {
    my $response = http_get($varies->port, '/many', 'Accept-Language' => "v$variant");
    $response->{body} eq $page{9} or fail("variant $variant");
}
my $after_300 = $files->();
cmp_ok($after_300, '<', 2 * 70 + 20, "C29: 300 variants: $after_300 files");
my $found = 0;
$languages->requests;
for my $variant (291 .. 300) {
    http_get($varies->port, '/many', 'Accept-Language' => "v$variant");
    $found++ if base_of(($languages->requests)[0]) eq 9;
}
cmp_ok($found, '>', 5, "C29: of the last ten, $found have their base");

# Of 150 variants many share a place: the base that is offered is the reader's own, or none.
my %text = map { ("own$_" => text(3_000, 100 + $_)) } 1 .. 150;
spew("$dir/$_", $text{$_}) for keys %text;
my ($offered, $foreign, $wrong) = (0, 0, 0);
for my $turn (1, 2) {
    for my $variant (sort keys %text) {
        $languages->requests;
        my $response = http_get($varies->port, '/shared', 'Accept-Language' => $variant);
        $wrong++ if $response->{body} ne $text{$variant};
        my $sent = field(($languages->requests)[0], 'If-Block') // next;
        $offered++;
        $foreign++ if $sent ne if_block($text{$variant}, $n);
    }
}
is($wrong, 0, 'C27: variants that share a place: the right pages');
is($foreign, 0, 'C27: variants that share a place: no base of another one is offered');
cmp_ok($offered, '>', 10, "C27: variants that share a place: $offered bases of their own are");

done_testing;

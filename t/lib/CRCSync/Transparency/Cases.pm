# What is fetched: one case is a URL with a response and a request, made of one value of each factor.
#
#   my @cases = cases();                       # {number, target, group, and a value for each factor of the group}
#   my @steps = steps($case, 'changed');       # the requests of a round: {case, target, method, fields, body or chunks}
#
# Three groups. "page": a page with status 200, as GET or HEAD, in all that codings, caches, validators, conditionals
# and fields can be. "status": every status with every method. Within these every pair of values occurs. "delta": pages
# that look like deltas, in all combinations.
#
# The rounds: cold (the case's request, for a URL never seen), base (a plain GET, where the case's request is none),
# warm (the case's request, nothing has changed), changed (the case's request, for a new version of the page), after
# (the plain GET of the new version). CRCSync::Transparency::Answer is the origin.
package CRCSync::Transparency::Cases;

use strict;
use warnings;

use Exporter qw(import);

use CRCSync::Transparency::AllPairs qw(all_pairs missing_pairs);

our @EXPORT_OK = qw(cases rounds steps missing tag_of date_of fields_for);

my %tags = (
    none         => undef,
    strong       => '"v%d"',
    weak         => 'W/"v%d"',
    unquoted     => 'v%d',
    nothing      => '""',
    empty        => '',
    comma        => '"a,v%d"',
    backslash    => '"v%d\\"',
    'our suffix' => '"v%d-crcsync-identity"',
    'our gzip'   => 'W/"v%d-crcsync-gzip"',
    'like ours'  => '"v%d-crcsync-br"',
    lower        => 'w/"v%d"',
    utf8         => "\"v%d-\xc3\xa9\"",
);

# Response fields by value of a factor. %d is the version's date.
my %fields = (
    cache => {
        none            => [],
        'max-age'       => ['Cache-Control' => 'max-age=600'],
        'no-cache'      => ['Cache-Control' => 'no-cache'],
        'no-store'      => ['Cache-Control' => 'no-store'],
        private         => ['Cache-Control' => 'private, max-age=60'],
        's-maxage'      => ['Cache-Control' => 'public, s-maxage=600'],
        revalidate      => ['Cache-Control' => 'max-age=0, must-revalidate'],
        'no-transform'  => ['Cache-Control' => 'no-transform, max-age=60'],
        expires         => [Expires         => 'Fri, 01 Jan 2100 00:00:00 GMT'],
        past            => [Expires         => 'Thu, 01 Jan 1970 00:00:00 GMT'],
        'expires 0'     => [Expires         => '0'],
        pragma          => [Pragma          => 'no-cache'],
        age             => ['Cache-Control' => 'max-age=600', Age => '100'],
        lines           => ['Cache-Control' => 'public', 'cache-control' => 'Max-Age="60", ext=a'],
        quoted          => ['Cache-Control' => 'no-cache="Set-Cookie", private="X-A", stale-while-revalidate=9'],
        immutable       => ['Cache-Control' => 'max-age=31536000,immutable', 'Surrogate-Control' => 'max-age=9'],
    },
    vary => {
        none       => [],
        encoding   => [Vary => 'Accept-Encoding'],
        cookie     => [Vary => 'Cookie'],
        two        => [Vary => 'Cookie, Accept-Language'],
        lines      => [Vary => 'Cookie', Vary => 'User-Agent'],
        star       => [Vary => '*'],
        'if-block' => [Vary => 'If-Block, Cookie'],
        odd        => [vary => 'accept-encoding ,ORIGIN'],
    },
    type => {
        html     => ['Content-Type' => 'text/html'],
        absent   => [],
        odd      => ['content-type' => 'Text/HTML ; Charset="utf-8"'],
        json     => ['Content-Type' => 'application/json;charset=UTF-8'],
        binary   => ['Content-Type' => 'application/octet-stream'],
        image    => ['Content-Type' => 'image/png'],
        stream   => ['Content-Type' => 'text/event-stream'],
        nonsense => ['Content-Type' => 'nonsense'],
    },
    modified => {
        none    => [],
        date    => ['Last-Modified' => '%d'],
        invalid => ['Last-Modified' => 'yesterday'],
    },
    date => {none => [], date => [Date => 'Sat, 05 Jan 2019 10:00:00 GMT', Server => 'Origin/1.0 (x)']},
    other => {
        none     => [],
        cookies  => ['Set-Cookie' => 'a=1; Path=/', 'Set-Cookie' => 'b="2, 3"; Expires=Fri, 01 Jan 2100 00:00:00 GMT',
            'set-cookie' => 'c=4; Secure; HttpOnly'],
        md5      => ['Content-MD5' => 'Q2hlY2sgSW50ZWdyaXR5IQ=='],
        digest   => [Digest           => 'SHA-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE='],
        repr     => ['Repr-Digest'    => 'sha-256=:d435Qo+nKZ+gLcUHn7GQtQ72hiBVAgqoLsZnZPiTGPk=:'],
        content  => ['Content-Digest' => 'sha-256=:d435Qo+nKZ+gLcUHn7GQtQ72hiBVAgqoLsZnZPiTGPk=:'],
        links    => [Link => '</a>; rel=next', Link => '</b,c>; rel="preload"; as=style', Link => '<d>;rel=e'],
        language => ['Content-Language' => 'de, en', 'Content-Disposition' => 'attachment; filename="a, b.txt"',
            'Content-Location' => '/elsewhere?x=%20', 'Content-Script-Type' => 'text/x'],
        auth     => ['WWW-Authenticate' => 'Basic realm="a, b"', 'WWW-Authenticate' => 'Bearer', 'Proxy-Status' => 'x'],
        warning  => [Warning => '110 a "stale"', Warning => '214 b "changed"', 'Retry-After' => '120'],
        repeated => ['X-One' => '1', 'X-Two' => '2', 'X-One' => '3', 'x-one' => '1', 'X-ONE' => ''],
        odd      => ['X-Empty' => '', 'x-lower-CASE' => 'v', 'X_Under' => 'v', 'X-Long' => 'y' x 3000,
            "X'!#\$%&*+.^`|~" => '!'],
        latin    => ['X-Latin' => "caf\xe9", 'X-Tab' => "a\tb", 'X-Colon' => 'a: b: c', 'X-Quote' => '"a\\"b", \'c'],
        ranges   => ['Accept-Ranges' => 'bytes'],
        'no ranges' => ['Accept-Ranges' => 'none'],
        security => ['Content-Security-Policy' => "default-src 'self'; img-src *",
            'Strict-Transport-Security' => 'max-age=1', 'Access-Control-Allow-Origin' => '*',
            'Access-Control-Expose-Headers' => 'ETag', 'Referrer-Policy' => 'no-referrer'],
        capable  => [Capability => 'other; x=1', 'Alt-Svc' => 'clear', 'X-Cache' => 'HIT', Allow => 'GET, HEAD'],
        location => [Location => '/there', Refresh => '5; url=/there', 'SourceMap' => '/m',
            'X-Sendfile' => '/etc/hosts'],
        clear    => ['Clear-Site-Data' => '"cookies"', 'Timing-Allow-Origin' => '*', 'Server-Timing' => 'a;dur=1'],
    },
);

# What the reader sends besides its conditionals.
my %reader = (
    none     => [],
    cookie   => [Cookie => 'a=1; b=2'],
    cookies  => [Cookie => 'a=1', Cookie => 'b=2'],
    auth     => [Authorization => 'Basic dXNlcjpwYXNz'],
    reload   => ['Cache-Control' => 'no-cache', Pragma => 'no-cache'],
    'no-store' => ['Cache-Control' => 'no-store'],
    'max-age'  => ['Cache-Control' => 'max-age=0'],
    'no-transform' => ['Cache-Control' => 'no-transform'],
    browser  => ['User-Agent' => 'Mozilla/5.0 (X11)', Accept => 'text/html,*/*;q=0.8',
        'Accept-Language' => 'de,en;q=0.5', Referer => 'http://www.example.com/from?x=y', DNT => '1',
        'Upgrade-Insecure-Requests' => '1', 'Sec-Fetch-Mode' => 'navigate'],
    own      => ['X-One' => '1', 'x-one' => '2', 'X-Empty' => '', Forwarded => 'for=10.0.0.1',
        'X-Forwarded-For' => '10.0.0.1', Via => '1.0 before', 'Max-Forwards' => '9'],
    hop      => [Connection => 'X-Hop', 'X-Hop' => 'away', TE => 'trailers'],
    origin   => [Origin => 'http://a.example', 'Access-Control-Request-Method' => 'PUT', 'X-Requested-With' => 'x',
        Prefer => 'a, b'],
    old      => [],    # HTTP/1.0
);

my %accept = (
    absent     => undef,
    gzip       => 'gzip',
    browser    => 'gzip, deflate, br',
    modern     => 'gzip, deflate, br, zstd',
    star       => '*',
    'no gzip'  => 'gzip;q=0',
    br         => 'br',
    empty      => '',
    identity   => 'identity',
    nothing    => 'gzip;q=0.5, *;q=0',
    'no plain' => 'identity;q=0, gzip, br;q=0.1',
    weights    => 'deflate, GZip ; q=0.8 , *;q=0.1',
    'x-gzip'   => 'x-gzip, compress;q=0.5',
);

# Conditionals and ranges: names of the version-1 validators are filled in by fields_for.
my %ask = (
    plain         => [],
    'same tag'    => ['If-None-Match' => '@tag'],
    'other tag'   => ['If-None-Match' => '"other"'],
    'tag list'    => ['If-None-Match' => '"other", @tag, W/"third"'],
    'any tag'     => ['If-None-Match' => '*'],
    'same date'   => ['If-Modified-Since' => '@date'],
    'old date'    => ['If-Modified-Since' => 'Mon, 01 Jan 2018 00:00:00 GMT'],
    'both'        => ['If-None-Match' => '@tag', 'If-Modified-Since' => '@date'],
    'match'       => ['If-Match' => '@tag'],
    'match other' => ['If-Match' => '"other", "another"'],
    'match any'   => ['If-Match' => '*'],
    'unmodified'  => ['If-Unmodified-Since' => '@date'],
    'range'       => [Range => 'bytes=100-299'],
    'tail'        => [Range => 'bytes=-50'],
    'ranges'      => [Range => 'bytes=0-9,100-119'],
    'beyond'      => [Range => 'bytes=99999999-'],
    'no range'    => [Range => 'lines=1-2'],
    'range of tag'   => ['If-Range' => '@tag', Range => 'bytes=10-19'],
    'range of other' => ['If-Range' => '"other"', Range => 'bytes=10-19'],
    'range of date'  => ['If-Range' => '@date', Range => 'bytes=10-'],
    'odd tag'        => ['If-None-Match' => 'v1, , "a""b"'],
);

my @bodies = qw(empty byte text html binary large sections delta);
my @framings = qw(length chunked close trailers);

my @page = (
    [ask => _often('plain', 5, keys %ask)],
    [method => _often('GET', 4, 'HEAD')],
    [accept => _often('browser', 6, keys %accept)],
    [reader => _often('none', 7, keys %reader)],
    [coding => _often('none', 9, qw(gzip x-gzip deflate br zstd identity negotiated unknown), 'gzip, br')],
    [body => _often('html', 6, _often('text', 5, @bodies))],
    [framing => @framings],
    [cache => _often('none', 5, keys %{$fields{cache}})],
    [type => _often('html', 7, keys %{$fields{type}})],
    (map { [$_ => sort keys %{$fields{$_}}] } qw(vary modified date other)),
    [tag => _often('strong', 7, keys %tags)],
);

# Values that come often beside the rare ones: most of what is fetched is to be what a delta can be made of.
sub _often {
    my ($value, $times, @others) = @_;
    return (($value) x $times, sort grep { $_ ne $value } @others);
}

my @status = (
    [
        status => qw(200 201 202 203 204 206 226 299 300 301 302 303 304 307 308 400 401 403 404 405 406 408 409 410
            412 413 415 416 418 422 425 429 431 451 500 501 502 503 504 599)
    ],
    [method => qw(GET HEAD POST PUT DELETE PATCH OPTIONS PROPFIND FROBNICATE)],
    [sends  => qw(nothing length chunked none)],
    [since  => qw(ever changed)],
    [reason => qw(usual own none)],
    [body => qw(empty text html)],
    [framing => @framings],
    [coding => ('none') x 2, qw(gzip br negotiated)],
    [accept => qw(absent browser gzip identity)],
    [reader => qw(none cookie browser own old)],
    [tag => qw(none strong weak)],
    [ask => ('plain') x 2, 'same tag', 'match other', 'range'],
    [type => qw(html absent json)],
    [cache => qw(none max-age no-cache no-store expires)],
    [vary => qw(none encoding cookie)],
    [modified => qw(none date)],
    [date => qw(none date)],
    [other => qw(none cookies auth location repeated ranges warning)],
);

# Pages that look like deltas: all combinations of what could make one pass for a delta.
my @delta = (
    [body => qw(sections delta)],
    [cache => qw(none no-transform)],
    [tag => qw(none strong)],
    [type => qw(html stream)],
    [coding => qw(none br identity)],
    [other => qw(none repr)],
);
my %plain = (
    ask => 'plain', method => 'GET', accept => 'browser', reader => 'none', framing => 'length', vary => 'none',
    modified => 'none', date => 'none', status => 200, sends => 'nothing', since => 'ever', reason => 'usual',
);

my %factors = (delta => \@delta, page => \@page, status => \@status);

sub cases {
    my @cases;
    for my $group (sort keys %factors) {
        for my $row ($group eq 'delta' ? _all(@delta) : all_pairs(@{$factors{$group}})) {
            my $number = @cases + 1;
            push @cases, {%plain, %$row, group => $group, number => $number, target => "/$group/$number"};
        }
    }
    return @cases;
}

sub _all {
    my ($factor, @others) = @_;
    return {} unless $factor;
    my ($name, @values) = @$factor;
    return map { my $row = $_; map { {%$row, $name => $_} } @values } _all(@others);
}

# Pairs of values that no case has.
sub missing {
    my @cases = @_;
    return map { my $group = $_; missing_pairs([grep { $_->{group} eq $group } @cases], @{$factors{$group}}) }
        sort keys %factors;
}

# The rounds in their order, each with the version of the pages.
sub rounds { return ([cold => 1], [base => 1], [warm => 1], [changed => 2], [after => 2]) }

sub steps {
    my ($case, $round) = @_;
    my $own = $round ne 'base' && $round ne 'after';
    my $is_plain = $case->{method} eq 'GET' && $case->{ask} eq 'plain' && $case->{sends} eq 'nothing';
    return if !$own && $is_plain;
    my %step = (case => $case, target => $case->{target}, method => $own ? $case->{method} : 'GET');
    my @fields = (Host => 'www.example.com', @{$reader{$case->{reader}}});
    my $accept = $accept{$case->{accept}};
    push @fields, 'Accept-Encoding' => $accept if defined $accept;
    if ($own) {
        my ($tag, $date) = (tag_of($case, 1) // '"none"', date_of($case, 1) // 'Sat, 05 Jan 2019 10:00:00 GMT');
        $tag = '"empty"' if $tag eq '';
        push @fields, map { s/\@tag/$tag/r =~ s/\@date/$date/r } @{$ask{$case->{ask}}};
        push @fields, 'Content-Type' => 'text/plain' if $case->{sends} =~ /length|chunked/;
        $step{body} = "field=value\n" x 50 if $case->{sends} eq 'length';
        $step{body} = '' if $case->{sends} eq 'none';
        $step{chunks} = ["field=value\n" x 50, 'more'] if $case->{sends} eq 'chunked';
    }
    if ($case->{reader} eq 'old' && !$step{chunks}) {
        $step{minor} = 0;
        push @fields, Connection => 'keep-alive';
    }
    return {%step, fields => \@fields};
}

sub tag_of {
    my ($case, $version) = @_;
    my $tag = $tags{$case->{tag}};
    return defined $tag ? $tag =~ s/%d/$version/r : undef;
}

sub date_of {
    my ($case, $version) = @_;
    my (undef, $date) = fields_for($case, 'modified', $version);
    return $date;
}

# The response fields of one factor.
sub fields_for {
    my ($case, $factor, $version) = @_;
    my $date = ('', 'Tue, 01 Jan 2019 10:00:00 GMT', 'Wed, 02 Jan 2019 10:00:00 GMT')[$version];
    return map { s/^%d$/$date/r } @{$fields{$factor}{$case->{$factor}}};
}

1;

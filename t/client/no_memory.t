# Memory runs out at each allocation in turn that the client module makes for a request: the reader gets the right page or
# a clean error, no child dies, and the next request is right.
use strict;
use warnings;

use Compress::Zlib ();

use CRCSync::Delta qw(make_delta);
use CRCSync::Faults;
use CRCSync::Pair;
use CRCSync::Test;

my $n = 16;
my $base = text(30_000, 1);
my ($delta, $new) = make_delta($base, $n, 'new ' x 600, (map { [$_] } 0 .. $n - 2), text(3_000, 3));
my $gzip = Compress::Zlib::memGzip($new);
my @html = ('Content-Type' => 'text/html');
my %full = (body => $new, fields => [@html, ETag => '"2"']);
my %gzip = (body => $gzip, fields => [@html, 'Content-Encoding' => 'gzip', ETag => '"2"']);
my @crcsync = (@html, 'Content-Encoding' => 'crcsync', ETag => '"2-crcsync-identity"');

# base: whether there is one; full and delta: the origin's answers, without and with If-Block; method and ask: of the
# request; want: [status, body], where it is not $new; or: another body that is right too.
my %kinds = (
    first    => {},
    delta    => {base => 1, delta => {body => $delta, fields => \@crcsync}},
    vary     => {base => 1, delta => {body => $delta, fields => \@crcsync}, vary => 1},
    unmarked => {base => 1, delta => {body => $delta, fields => \@html}},
    no_delta => {base => 1},
    chunked  => {base => 1, full => {%full, chunked => [substr($new, 0, 9_000), substr $new, 9_000]}},
    alike    => {base => 1, full => {%full, body => "Saved: $new"}, want => [200, "Saved: $new"]},
    corrupt  => {base => 1, delta => {body => 'X', fields => \@crcsync}},
    refused  => {base => 1, delta => {status => 431, body => 'no'}},
    same     => {base => 1, full => {%full, conditional => 1}, ask => ['If-None-Match' => '"2"'], want => [304, '']},
    head     => {base => 1, method => 'HEAD', want => [200, '']},
    post     => {base => 1, method => 'POST'},
    missing  => {base => 1, full => {status => 404, body => 'gone', fields => [@html]}, want => [404, 'gone']},
    gzip     => {full => \%gzip, ask => ['Accept-Encoding' => 'gzip'], want => [200, $gzip]},
    # A reader who takes no gzip: where nothing is undone he gets what this origin gives him anyway.
    undone   => {full => \%gzip, ask => ['Accept-Encoding' => 'identity'], or => $gzip},
    cached   => {full => {%full, fields => [@html, ETag => '"2"', 'Cache-Control' => 'max-age=60']}},
    status   => {want => [200, undef]},
);

# /KIND/NUMBER; the reader says in X-Base that the base is wanted.
my $origin = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        my $kind = $kinds{($request->{target} =~ m{^/(\w+)})[0]};
        my %answer = field($request, 'X-Base') ? (body => $base, fields => [@html, $kind->{vary} ? (Vary => 'X-Kind') : ()])
            : defined field($request, 'If-Block') && $kind->{delta} ? %{$kind->{delta}}
            :                                                         %{$kind->{full} // \%full};
        CRCSync::Origin::send_answer($request, $connection, %answer);
    }
);
my $faults = CRCSync::Faults->new;
my $client = CRCSync::Httpd->start(
    name    => 'client',
    faults  => $faults,
    without => ['crccache_server'],
    vars    => {TO => $origin->port},
    conf    => <<"END_CONF");
ProxyPass "/status" "!"
<Location "/status">
    SetHandler crcsync-status
</Location>
@{[CRCSync::Pair::client_conf()]}
CRCSyncClientBlocks $n
CRCSyncClientHoldMemory 8K
CacheEnable crcsync "/cached/"
END_CONF
my $access_log = $client->dir . '/access.log';

sub ask {
    my ($kind, $target, @fields) = @_;
    my $before = -s $access_log || 0;
    my $method = $kind->{method} // 'GET';
    my $response = http_request($client->port, $method, $target, $method eq 'POST' ? (body => 'x') : (),
        fields => ['X-Kind' => 'a', @{$kind->{ask} // []}, @fields]);
    # What the module does for the log is part of the request too.
    CRCSync::Work::wait_for('the log', sub { -s $access_log > $before });
    return $response;
}

sub is_right {
    my ($kind, $response) = @_;
    my ($status, $body) = @{$kind->{want} // [200, $new]};
    return 0 unless $response && $response->{complete} && $response->{status} == $status;
    return !defined $body || grep { defined && $response->{body} eq $_ } $body, $kind->{or};
}

# One request with a fault at allocation `at`; returns whether there was one.
my $number = 0;

sub one_ok {
    my ($what, $at, $and_all_after) = @_;
    my $kind = $kinds{$what};
    my $target = "/$what" . ($what eq 'status' ? '' : '/' . ++$number);
    http_get($client->port, $target, 'X-Kind' => 'a', 'X-Base' => 1) if $kind->{base};
    $origin->requests;
    $faults->fail($at, $and_all_after);
    my $response = ask($kind, $target);
    my $failed = $faults->stop;
    my @requests = $origin->requests;

    my $name = "$what, allocation $at" . ($and_all_after ? ' and all after' : '');
    my $clean_error = $failed && $response && $response->{complete} && $response->{status} =~ /^50[0-9]$/;
    # Where a coding is undone while the page passes, the reader may have a part: he sees that the rest is missing.
    my $cut_off = $failed && $what eq 'undone' && $response && !$response->{complete};
    ok(is_right($kind, $response) || $clean_error || $cut_off, "$name: the right page, or a clean error")
        or diag($response ? "$response->{status}, " . length($response->{body}) . ' bytes' : 'no response');
    cmp_ok(scalar @requests, '<=', $kind->{method} ? 1 : 2, "$name: requests upstream");
    ok(is_right($kind, ask($kind, $target)), "$name: the next request is right");
    return $failed;
}

# A child that has served some requests has set up all that it needs once.
for my $what (sort keys %kinds) {
    http_get($client->port, "/$what", 'X-Base' => 1) for 1 .. 3;
    ask($kinds{$what}, "/$what");
}
my @children = $client->children;
my %allocations;
my $step = soak(fast => 5, full => 1);
for my $what (sort keys %kinds) {
    for my $and_all_after (0, 1) {
        my $at = 1;
        while (one_ok($what, $at, $and_all_after)) {
            $allocations{$what}++;
            # The first few, then another selection for each kind.
            $at += $at < 4 ? 1 : $at < 10 ? 1 + ord($what) % $step : $step;
        }
    }
}
note("$_: $allocations{$_} faults") for sort keys %allocations;
is_deeply([grep { !$allocations{$_} } keys %kinds], ['status'], 'each kind of request but one had faults');
is(join(' ', $client->children), "@children", 'no child has died');
like(http_get($client->port, '/status?auto')->{body}, qr/^CRCSyncClientFaults: [1-9]/m, 'the faults are counted');

expect_log(qr/crcsync: .*: fault in the request hook: std::bad_alloc/);
expect_log(qr/crcsync: .*: fault in CRCSYNC_DECODE: std::bad_alloc/);
allow_log(qr/crcsync: /);
done_testing;

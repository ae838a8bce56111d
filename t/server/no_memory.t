# Memory runs out at each allocation in turn that the server module makes for a request: what arrives is the page, plain or
# as a delta, or a clean error; no child dies, and the next request is right.
use strict;
use warnings;

use Compress::Zlib ();

use CRCSync::Delta;
use CRCSync::Faults;
use CRCSync::ServerAlone;
use CRCSync::Test;

my $count = 16;
my $base = text(60_000, 1);
# Larger than a buffer, so that a part is on its way when memory runs out.
my $page = substr($base, 0, 20_000) . random_bytes(100_000, 2) . substr $base, 20_000;
my $gzip = Compress::Zlib::memGzip($page);
my @html = ('Content-Type' => 'text/html', ETag => '"2"');

# The origin's answer; fields: of the request beside If-Block; base: undef for no If-Block at all; method; status, body:
# what is right where it is not the page.
my %kinds = (
    delta   => {answer => {body => $page, fields => [@html]}},
    pieces  => {answer => {chunked => [map { substr $page, 10_000 * $_, 10_000 } 0 .. 15], fields => [@html]}},
    gzip    => {answer => {body => $gzip, fields => [@html, 'Content-Encoding' => 'gzip']}},
    plain   => {answer => {body => $page, fields => [@html]}, no_base => 1},
    small   => {answer => {body => 'small', fields => [@html]}, body => 'small'},
    refused => {answer => {body => $page, fields => [@html, 'Cache-Control' => 'no-transform']}},
    same    => {
        answer => {body => $page, fields => [@html], conditional => 1},
        fields => ['If-None-Match' => '"1", "2-crcsync-identity"'],
        # With its suffix still on, the tag is not the origin's: then the page comes.
        status => 304, body => '', or => 200,
    },
    missing => {answer => {status => 404, body => 'gone', fields => [@html]}, status => 404, body => 'gone'},
    head    => {answer => {body => $page, fields => [@html]}, method => 'HEAD', body => ''},
    post    => {answer => {body => $page, fields => [@html]}, method => 'POST'},
    file    => {file => 1},
);

my $origin = CRCSync::Origin->start;
my $faults = CRCSync::Faults->new;
my $server = CRCSync::ServerAlone->start(
    faults => $faults,
    vars   => {TO => $origin->port},
    conf   => <<'END_CONF');
CRCSyncServerSimilar text/html "^/[a-z]+$"
<LocationMatch "^/(?!file)">
    ProxyPass "http://127.0.0.1:@TO@"
</LocationMatch>
END_CONF
$server->page('file', $page);
$origin->put("/$_", %{$kinds{$_}{answer}}) for grep { $kinds{$_}{answer} } keys %kinds;
my $access_log = $server->dir . '/access.log';
my $if_block = CRCSync::Delta::if_block($base, $count);

sub ask {
    my ($what) = @_;
    my $kind = $kinds{$what};
    my $before = -s $access_log || 0;
    my $response = http_request(
        $server->port, $kind->{method} // 'GET', "/$what",
        fields => [$kind->{no_base} ? () : ('If-Block' => $if_block), @{$kind->{fields} // []}],
        ($kind->{method} // '') eq 'POST' ? (body => 'x') : (),
    );
    CRCSync::Work::wait_for('the log', sub { -s $access_log > $before });
    return $response;
}

# Whether a response gives what it ought to, as a delta or not.
sub is_right {
    my ($what, $response) = @_;
    my $kind = $kinds{$what};
    return 0 unless $response && $response->{complete};
    my $want = $kind->{or} && $response->{status} == $kind->{or} ? $page : $kind->{body} // $page;
    return 0 unless $response->{status} == ($kind->{status} // 200) || $response->{status} == ($kind->{or} // 0);
    my $coding = field($response, 'Content-Encoding') // '';
    my $body = $response->{body};
    $body = eval { CRCSync::Delta::apply_delta($body, $base, $count) } // '' if $coding eq 'crcsync';
    $body = Compress::Zlib::memGunzip($body) // '' if $coding eq 'gzip' && $response->{status} == 200;
    return $body eq $want;
}

# One request with a fault at allocation `at`; returns whether there was one.
sub one_ok {
    my ($what, $at, $and_all_after) = @_;
    my $method = $kinds{$what}{method} // 'GET';
    $origin->requests;
    $faults->fail($at, $and_all_after);
    my $response = ask($what);
    my $failed = $faults->stop;

    my $name = "$what, allocation $at" . ($and_all_after ? ' and all after' : '');
    my $clean_error = $failed && $response && $response->{complete} && $response->{status} =~ /^50[0-9]$/;
    # A delta that has begun can only be cut off, so that everybody sees it.
    my $cut_off = $failed && (!$response || !$response->{complete});
    my $how = is_right($what, $response) ? 'right' : $clean_error ? 'an error' : $cut_off ? 'cut off' : 'wrong';
    isnt($how, 'wrong', "$name: the right page or a clean error")
        or diag("$response->{status}, " . length($response->{body}) . ' bytes');
    note("$name: $how") if $how ne 'right';
    is(scalar(my @requests = $origin->requests), 1, "$name: the origin is asked once") unless $what eq 'file';
    ok(is_right($what, ask($what)), "$name: the next request is right");
    return $failed;
}

for my $what (sort keys %kinds) {
    ask($what) for 1 .. 2;
}
my @children = $server->httpd->children;
my %allocations;
my $step = soak(fast => 3, full => 1);
for my $what (sort keys %kinds) {
    for my $and_all_after (0, 1) {
        my $at = 1;
        while (one_ok($what, $at, $and_all_after)) {
            $allocations{$what}++;
            $at += $at < 4 ? 1 : $step;
        }
    }
}
note("$_: $allocations{$_} faults") for sort keys %allocations;
is_deeply([grep { !$allocations{$_} } sort keys %kinds], [], 'each kind of request had faults');
$server->children_live(@children);

expect_log(qr/crcsync: .*: fault in settle: std::bad_alloc/);
expect_log(qr/crcsync: .*: fault in CRCSYNC_ENCODE: std::bad_alloc/);
allow_log(qr/crcsync: /);
done_testing;

# Descriptors (C30) run out at each file and socket in turn that a request opens, its bases, temporary files and cached pages
# among them: the reader gets the right page or a clean error, no child dies, and the next request is right.
use strict;
use warnings;

use CRCSync::Delta qw(make_delta);
use CRCSync::Faults;
use CRCSync::Pair;
use CRCSync::Test;

my $n = 16;
my $base = text(30_000, 1);
my ($delta, $new) = make_delta($base, $n, 'new ' x 600, (map { [$_] } 0 .. $n - 2), text(3_000, 3));
my @html = ('Content-Type' => 'text/html');
my %full = (body => $new, fields => [@html, ETag => '"2"']);
my @crcsync = (@html, 'Content-Encoding' => 'crcsync', ETag => '"2-crcsync-identity"');
my @stale = ('Cache-Control' => 'max-age=0, must-revalidate');

# base: whether there is one; full and delta: the origin's answers, without and with If-Block. In /cached pages are
# kept by mod_cache as well.
my %kinds = (
    first   => {},
    delta   => {base => 1, delta => {body => $delta, fields => \@crcsync}},
    vary    => {base => 1, vary => 1, delta => {body => $delta, fields => [@crcsync, Vary => 'X-Kind']}},
    full    => {base => 1},
    corrupt => {base => 1, delta => {body => 'X', fields => \@crcsync}},
    refused => {base => 1, delta => {status => 431, body => 'no'}},
    nothing => {base => 1, delta => {raw => '', close => 1}},
    cut     => {base => 1, delta => {raw => "HTTP/1.1 200 OK\r\nContent-Encoding: crcsync\r\nContent-Length: 9\r\n\r\nL", close => 1}},
);
my $origin = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        my ($cached, $what) = $request->{target} =~ m{^/(cached/)?(\w+)};
        my $kind = $kinds{$what};
        my %answer = field($request, 'X-Base') ? (body => $base, fields => [@html, ETag => '"1"', $kind->{vary} ? (Vary => 'X-Kind') : ()])
            : defined field($request, 'If-Block') && $kind->{delta} ? %{$kind->{delta}}
            :                                                         %full;
        $answer{fields} = [@{$answer{fields}}, @stale] if $cached && $answer{fields};
        CRCSync::Origin::send_answer($request, $connection, %answer);
    }
);
my $faults = CRCSync::Faults->new;
my $client = CRCSync::Httpd->start(
    name    => 'client',
    faults  => $faults,
    without => ['crccache_server'],
    vars    => {TO => $origin->port},
    conf    => CRCSync::Pair::client_conf() . <<"END");
ProxyPass "/off/" "http://127.0.0.1:\@TO\@/" retry=0
CRCSyncClientBlocks $n
CRCSyncClientHoldMemory 8K
CacheEnable crcsync "/cached/"
CacheMaxExpire 0
END
my @children = $client->children;
my %faults;
my $number = 0;
for my $path (map { ("/$_", "/cached/$_") } sort keys %kinds) {
    my $kind = $kinds{($path =~ /(\w+)$/)[0]};
    for my $and_all_after (0, 1) {
        for my $at (1 .. 60) {
            my $target = "$path/" . ++$number;
            http_get($client->port, $target, 'X-Kind' => 'a', 'X-Base' => 1) if $kind->{base};
            $faults->fail_open($at, $and_all_after);
            my $response = http_get($client->port, $target, 'X-Kind' => 'a');
            my $failed = $faults->stop;
            my $name = "$path, descriptor $at" . ($and_all_after ? ' and all after' : '');
            my $right = $response && $response->{complete} && $response->{status} == 200 && $response->{body} eq $new;
            my $clean = $failed && $response && $response->{complete} && $response->{status} =~ /^50[0-9]$/;
            ok($right || $clean, "C30: $name: the right page, or a clean error")
                or diag($response ? "$response->{status}, " . length($response->{body}) . ' bytes' : 'no response');
            my $next = http_get($client->port, $target, 'X-Kind' => 'a');
            ok($next && $next->{status} == 200 && $next->{body} eq $new, "$name: the next request is right");
            last if !$failed;
            $faults{$path}++;
        }
    }
}
note("$_: $faults{$_} faults") for sort keys %faults;
is_deeply([grep { !$faults{$_} } map { ("/$_", "/cached/$_") } keys %kinds], [], 'each kind of request had faults');
is(join(' ', $client->children), "@children", 'C30: no child has died');

allow_log(qr/Too many open files|\[proxy|gives no instance|cannot keep a base|AH007\d\d|nothing that can be used/);
done_testing;

# A peer that damages what passes, on each side of a running pair (C36, C40): on the line between the modules, behind the
# server module, and in the reader's place. Each damage comes from a seed; a failure names it, and CRCSYNC_SEED=N runs
# that one alone.
#
# What is right:
# - The reader gets the page, or a whole error page (5xx). That is always right.
# - HTTP has no means to tell that a head, or the body of a plain response, was changed on the way. So what a plain proxy
#   in the module's place makes of the very same bytes is right too, status, coding and body: it is tried, with a plain
#   httpd. But a delta is never such a body: what it gives is verified, and a plain proxy's delta is no page.
# - A response that ends before its end is right only where the plain proxy's does too. Deltas are held until they are
#   verified: damage to one never shows as half a page.
# - Whatever has become a base meanwhile: the next honest fetch gives the page.
# - No child ends, and none is stuck.
use strict;
use warnings;

use Compress::Zlib ();
use IO::Uncompress::Gunzip qw(gunzip);
use CRCSync::Delta;
use CRCSync::HostileDeltas qw(hostile_delta);
use CRCSync::HostileLine;
use CRCSync::Mutation;
use CRCSync::Pair;
use CRCSync::Test;

my $blocks = 16;

# Version v of page id: text with a few changes. Every fourth page comes from the origin as gzip, whatever is asked for.
my %text;
sub page {
    my ($id, $version) = @_;
    %text = () if keys %text > 100;
    my $page = $text{$id} //= text(4_000 + $id % 7 * 300, $id);
    substr $page, 500 * $_ + $id % 400, 20, sprintf 'version %d of page %d.', $version, $id for 1 .. $version + 1;
    return $page;
}

sub answer {
    my ($request) = @_;
    my ($id) = $request->{target} =~ m{^/p/(\d+)$} or return CRCSync::Origin::response(status => 404, body => 'no such page');
    my $version = field($request, 'X-Version') // '';
    return CRCSync::Origin::response(status => 400, body => 'no version') unless $version =~ /^\d$/;
    my @fields = ('Content-Type' => 'text/html', ETag => qq{"$id-$version"}, Vary => 'Accept-Language');
    my $body = page($id, $version);
    if ($id % 4 == 3) {
        push @fields, 'Content-Encoding' => 'gzip';
        $body = Compress::Zlib::memGzip($body);
    }
    return CRCSync::Origin::response(fields => \@fields, body => $body, $id % 3 ? () : (chunked => 1));
}

# A body made by hand, for what the line sees of page id.
sub made {
    my ($mutation, $body, $request) = @_;
    my ($id) = $request->{target} =~ m{/(\d+)$} or return $body;
    my $count = field($request, 'If-Block') ? (CRCSync::Delta::parse_if_block(field($request, 'If-Block')))[1] : $blocks;
    return hostile_delta($mutation, page($id, 1), $count, page($id, 2), $body);
}

my $far = CRCSync::HostileLine->start(answer => \&answer, field => 'X-Damage-Far', made => \&made);
my $timeouts = "Timeout 10\nProxyTimeout 10\nRequestReadTimeout header=10 body=10\n";
my %server = (without => ['crccache_client'], modules => ['reqtimeout'], vars => {TO => $far->port});
my $server = CRCSync::Httpd->start(%server, name => 'server', conf => CRCSync::Pair::server_conf() . $timeouts);
my $line = CRCSync::HostileLine->start(to => $server->port, made => \&made);
my %client = (without => ['crccache_server'], modules => ['reqtimeout']);
my $client = CRCSync::Httpd->start(
    %client,
    name => 'client',
    vars => {TO => $line->port},
    conf => CRCSync::Pair::client_conf() . "CRCSyncClientBlocks $blocks\nCRCSyncClientMaxInstance 1M\n$timeouts",
);

# Plain proxies: one for each line's responses, one in front of the origin for requests.
my @none = @CRCSync::Httpd::under_test;
my %replay = map { $_ => CRCSync::HostileLine->start(replay => $_ eq 'far' ? $far : $line) } qw(line far);
my $plain = CRCSync::Httpd->start(
    name    => 'plain',
    without => [@none],
    modules => ['reqtimeout'],
    vars    => {LINE => $replay{line}->port, FAR => $replay{far}->port, TO => $far->port},
    conf    => qq{ProxyPass "/line/" "http://127.0.0.1:\@LINE\@/" disablereuse=on\nProxyPass "/far/" "http://127.0.0.1:\@FAR\@/" disablereuse=on\n}
        . qq{ProxyPass "/" "http://127.0.0.1:\@TO\@/" disablereuse=on\n$timeouts},
);
my @children = ($client->children, $server->children);

# A response, or undef where none came.
sub fetch {
    my ($id, $version, @fields) = @_;
    my $response = eval { http_get($client->port, "/p/$id", 'X-Version' => $version, @fields) };
    diag($@) if $@;
    return $response;
}

# The page's text: a gzip body with its field is as good as the page itself. It may have several members.
sub text_of {
    my ($response) = @_;
    my $coding = field($response, 'Content-Encoding') // '';
    return $response->{body} unless lc $coding eq 'gzip';
    gunzip(\$response->{body} => \my $text, MultiStream => 1);
    return $text // '';
}

sub is_page {
    my ($response, $want) = @_;
    return $response && $response->{complete} && $response->{status} == 200 && text_of($response) eq $want;
}

# What a plain proxy makes of a plan.
sub plain_response {
    my ($where, $plan) = @_;
    return eval { http_get($plain->port, "/$where/$plan->{file}") } if $plan->{way} eq 'down';
    my $bytes = CRCSync::HostileLine::ask($plain->port, $plan->{plan});
    my $stream = CRCSync::Stream->new('response', keep => 1);
    $stream->feed($bytes);
    $stream->finish;
    return ($stream->messages)[0];
}

sub is_as_plain {
    my ($response, $want, $where, $plan) = @_;
    my $proxied = plain_response($where, $plan);
    return !$response || $response->{status} >= 500 if !$proxied;
    return !$proxied->{complete} unless $response;
    return 0 if $response->{status} != $proxied->{status} || $proxied->{complete} < $response->{complete};
    # The status, or a coding that was added to crcsync, may be a lie: the page is the page.
    return 1 if text_of($response) eq $want || $response->{body} eq $want;
    return 0 if (field($proxied, 'Content-Encoding') // '') =~ /crcsync/i && length $response->{body};
    # The server module undoes gzip where it makes a delta.
    return 1 if $response->{complete} && text_of($response) eq text_of($proxied);
    return 0 if (field($proxied, 'Content-Encoding') // '') ne (field($response, 'Content-Encoding') // '');
    my ($got, $plainly) = ($response->{body}, $proxied->{body});
    return $got eq $plainly if $response->{complete};
    return index($got, $plainly) == 0 || index($plainly, $got) == 0;
}

# How a response to what was damaged ended: page, error, plain, or nothing that is right.
sub outcome {
    my ($response, $want, $where, @plans) = @_;
    return 'page' if is_page($response, $want);
    return 'error' if $response && $response->{complete} && $response->{status} >= 500
        && (field($response, 'Content-Encoding') // '') !~ /crcsync/i;
    return (grep { is_as_plain($response, $want, $where, $_) } @plans) ? 'plain' : undef;
}

my (%ran, %ended);
my @failures;

sub failed {
    my ($what, $response, @plans) = @_;
    push @failures, $what;
    my $head = $response ? $response->{head} =~ s/\r//gr : "no response\n";
    diag("$what\n$head" . ($response ? 'complete: ' . $response->{complete} . ', body: ' . substr($response->{body}, 0, 200) =~ s/[^ -~]/./gr : ''));
    for my $plan (@plans) {
        my $proxied = plain_response($plan->{way} eq 'up' || $what !~ /^far/ ? 'line' : 'far', $plan);
        diag($proxied ? "a plain proxy: $proxied->{head}complete $proxied->{complete}, " . length $proxied->{body} : 'a plain proxy: nothing');
        diag("sent $plan->{way}: " . join ' | ', map { "$_->[0] " . substr($_->[1], 0, 8_000) =~ s/([^\n -~])/sprintf '\\x%02x', ord $1/ger } @{$plan->{plan}});
    }
    return;
}

# One damage: a base, the damaged exchange, an honest one. `with_base` 0: what is damaged is the first response of all.
sub try_one {
    my ($id, $where, $way, $seed, $kind, $with_base, $which) = @_;
    my $lines = $where eq 'far' ? $far : $line;
    my $header = $where eq 'far' ? 'X-Damage-Far' : 'X-Damage';
    my $what = "$where $way, base $with_base, $which";
    if ($with_base && !is_page(fetch($id, 1), page($id, 1))) {
        failed("$what, seed $seed: the base");
        return;
    }
    my $want = page($id, 2);
    my $response = fetch($id, 2, $header => "$way $id $seed $kind $which");
    my @plans = $lines->plans($id);
    my $name = "$what, " . (@plans ? $plans[0]{name} : "seed $seed: nothing sent");
    $kind = $plans[0]{kind} if @plans;
    $ran{"$where $way"}{$kind}++;
    my $outcome = outcome($response, $want, $where, @plans);
    $ended{"$where $way"}{$outcome // 'wrong'}++;
    failed($name, $response, @plans) unless $outcome;
    my $after = fetch($id, 3);
    failed("$name: the next fetch", $after, @plans) unless is_page($after, page($id, 3));
    $lines->forget($id);
    return;
}

# A reader who sends nonsense. He gets some answer or none; the page's next reader gets the page.
sub try_reader {
    my ($id, $seed) = @_;
    my $mutation = CRCSync::Mutation->new($seed);
    is_page(fetch($id, 1), page($id, 1)) or failed("reader, seed $seed: the base");
    my $version = 2;
    my $plan = $mutation->request("GET /p/$id HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Version: $version\r\nAccept-Encoding: gzip\r\n"
            . "Cache-Control: max-age=0\r\nIf-None-Match: \"x-crcsync-identity\"\r\nConnection: close\r\n\r\n");
    my $bytes = CRCSync::HostileLine::ask($client->port, $plan);
    $ran{reader}{$mutation->kind}++;
    my ($status) = $bytes =~ m{^HTTP/1\.1 (\d)};
    $ended{reader}{!defined $status ? 'nothing' : $status == 2 ? 'page' : 'error'}++;
    my $after = fetch($id, 3);
    is_page($after, page($id, 3)) or failed($mutation->name . ', reader: the next fetch', $after);
    return;
}

my @ways = (
    # Where, what is damaged, with a base or without, which requests (any: the second fetch too), how many.
    [line => 'down', 1, 'delta', soak(fast => 90, full => 1_000)],
    [line => 'down', 1, 'any',   soak(fast => 40,  full => 400)],
    [line => 'down', 0, 'any',   soak(fast => 30,  full => 300)],
    [line => 'up',   1, 'delta', soak(fast => 40,  full => 400)],
    [far  => 'down', 1, 'any',   soak(fast => 40,  full => 400)],
    [far  => 'up',   1, 'any',   soak(fast => 20,  full => 200)],
);
# A page for each: its number comes from the seed, so that the seed alone repeats all.
my $number = 0;
my $only = $ENV{CRCSYNC_SEED};
my $first = $ENV{CRCSYNC_FIRST_SEED} // 1;
for my $way (@ways) {
    my ($where, $direction, $base, $which, $count) = @$way;
    $number++;
    for my $seed (defined $only ? $only : $first .. $first + $count - 1) {
        try_one(10 * $seed + $number, $where, $direction, $seed, '-', $base, $which);
        last if @failures > 20;
    }
}
for my $seed (defined $only ? $only : $first .. $first + soak(fast => 20, full => 300) - 1) {
    try_reader(10 * $seed, $seed);
    last if @failures > 20;
}

for my $way (sort keys %ran) {
    figure("$way", join ', ', map { "$_ $ran{$way}{$_}" } sort keys %{$ran{$way}});
    figure("$way, ended as", join ', ', map { "$_ $ended{$way}{$_}" } sort keys %{$ended{$way}});
}
is_deeply(\@failures, [], 'C36, C40: whatever is damaged, the page, a clean error, or what a plain proxy would give');
my %live = map { $_ => 1 } $client->children, $server->children;
is_deeply([grep { !$live{$_} } @children], [], 'no child has ended');

allow_log(qr/\[proxy|crccache_(?:client|server):error|\[core:error\]|\[http:error\]|AH0\d+: /);
done_testing;

# A balancer whose first member is of no use: mod_proxy goes on to another within the request (nothing listens), or from
# the next request on (failonstatus). The reader gets what he would get without the module, a request that changes
# something is sent once, and If-Block goes where a base says so and nowhere else.
use strict;
use warnings;

use CRCSync::ClientAlone;
use CRCSync::Delta qw(block strong make_delta);
use CRCSync::Test;
use CRCSync::Work;

my $n = CRCSync::ClientAlone::BLOCKS;
my $base = text(30_000, 1);
my @html = ('Content-Type' => 'text/html');
my ($delta, $page) = make_delta($base, $n, 'new', map { [$_] } 0 .. $n - 1);
my @modules = (modules => [qw(proxy_balancer slotmem_shm lbmethod_byrequests)]);

# A server whose paths below /0/, /1/ ... go to balancers, each of one of `first` (ports) and, in a set that is asked when
# no member of the first set is left, of the origin of the test. In /plain/ the module is off.
sub balancers {
    my ($more, %first) = @_;
    my $conf = '';
    for my $name (sort keys %first) {
        $conf .= <<"END_CONF";
<Proxy "balancer://$name">
    BalancerMember "http://127.0.0.1:$first{$name}" lbset=0 retry=600
    BalancerMember "http://127.0.0.1:\@TO\@" lbset=1
</Proxy>
ProxyPass "/$name/" "balancer://$name/$name/" $more
END_CONF
    }
    $conf .= qq{<Location "/plain/">\nCRCSyncClient Off\n</Location>\n};
    return CRCSync::ClientAlone->start(@modules, proxy => 0, conf => $conf);
}

# Which of the requests carried If-Block, in order.
sub offers { return join ' ', map { defined field($_, 'If-Block') ? 'If-Block' : 'none' } @_ }

# --- the first member is up at first, then nothing listens there
my @names = qw(delta hash refusal post large plain);
my %first;
for my $name (@names) {
    $first{$name} = CRCSync::Origin->start;
    $first{$name}->put("/$name/page", body => $base, fields => [@html], close => 1);
}
my $alone = balancers('', map { $_ => $first{$_}->port } @names);
for my $name (@names) {
    $alone->body_ok("/$name/page", $base, "$name: from the first member");
    is(offers($first{$name}->requests), 'none', "$name: no base, no If-Block");
    $first{$name}->stop;
}
is(scalar(my @asked = $alone->requests), 0, 'the second member was not asked');

$alone->delta('/delta/page', $delta);
$alone->body_ok('/delta/page', $page, 'C17: the delta of the second member');
is($alone->note('result'), 'delta', 'C17: the second member is offered the base');
is(offers($alone->requests), 'If-Block', 'C17: it is asked once');

for my $try ([hash => block(0) . strong('else')], [refusal => undef]) {
    my ($name, $body) = @$try;
    my $target = "/$name/page";
    $alone->full($target, body => $page, fields => [@html]);
    $alone->delta($target, $body) if defined $body;
    $alone->with_if_block($target, status => 431, body => 'no') if !defined $body;
    $alone->body_ok($target, $page, "C17: $name from the second member, then the page");
    is($alone->note('result'), 'refetched', "$name: fetched again");
    is(offers($alone->requests), 'If-Block none', "C17: $name: once, and without If-Block");
}
expect_log(qr{crcsync: /hash/page: the delta gives no instance \(});

# What is sent to a member that is not there is not lost, nor doubled; with the module as without.
for my $try ([post => 'change it'], [plain => 'change it'], [large => text(200_000, 7)]) {
    my ($name, $body) = @$try;
    $alone->full("/$name/page", body => 'done', fields => [@html]);
    my $response = http_request($alone->port, POST => "/$name/page", body => $body);
    my @requests = $alone->requests;
    is($response->{status}, 200, "$name: status");
    is(join(' ', map { $_->{method} } @requests), 'POST', "C17: $name: the second member has it once");
    is(offers(@requests), 'none', "$name: without If-Block");
    is_body($requests[0]{body}, $body, "$name: its body");
}

# --- the first member answers 503, and is left alone from then on
for my $name (qw(client plain)) {
    my $target = "/$name/page";
    my $first = CRCSync::Origin->start(
        sub {
            my ($request, $connection) = @_;
            my @answer = (body => $base, fields => [@html]);
            @answer = (status => 503, body => 'down', fields => [@html]) if !field($request, 'X-Up');
            $connection->send(CRCSync::Origin::response(@answer));
        }
    );
    $alone = balancers('failonstatus=503', $name => $first->port);
    $alone->delta($target, $delta);
    $alone->full($target, body => $page, fields => [@html]);
    $alone->body_ok($target, $base, "$target: the first member is up", 'X-Up' => 1);
    is(offers($first->requests), 'none', "$target: no If-Block to it");

    my $response = $alone->get($target);
    is($response->{status}, 503, "$target: the first member's 503 is the reader's");
    is($response->{body}, 'down', "$target: and its page");
    is(scalar(@asked = $first->requests), 1, "$target: asked once");
    is(scalar(@asked = $alone->requests), 0, "$target: and the second was not asked");

    $alone->body_ok($target, $page, "C17: $target: the second member's page");
    is($alone->note('result'), $name eq 'client' ? 'delta' : '-', "C17: $target: what it was");
    is(offers($alone->requests), $name eq 'client' ? 'If-Block' : 'none', "$target: what the second was asked");

    $response = http_request($alone->port, POST => $target, body => 'change it');
    my @requests = $alone->requests;
    is(join(' ', map { $_->{method} } @requests), 'POST', "C17: $target: POST is sent once, to the second");
    is(offers(@requests), 'none', "$target: POST has no If-Block");
    is($requests[0]{body}, 'change it', "$target: its body");
    is(scalar(@requests = $first->requests), 0, "$target: the first is left alone");
}

# --- a POST that the first member refuses is not sent to the second
my $first = CRCSync::Origin->start(
    sub { $_[1]->send(CRCSync::Origin::response(status => 503, body => 'down', fields => [@html])) });
$alone = balancers('failonstatus=503', post => $first->port);
my $response = http_request($alone->port, POST => '/post/page', body => 'change it');
is($response->{status}, 503, 'C17: a POST that is refused with 503: the reader has it');
is(scalar(my @refused = $first->requests), 1, 'C17: it was sent once');
is(scalar(@refused = $alone->requests), 0, 'C17: and not to the second');

# --- no member is there: an error, at once and with no page of ours
$alone = CRCSync::ClientAlone->start(@modules, proxy => 0, conf => <<"END_CONF");
<Proxy "balancer://none">
    BalancerMember "http://127.0.0.1:@{[CRCSync::Work::free_port()]}" retry=0
    BalancerMember "http://127.0.0.1:@{[CRCSync::Work::free_port()]}" retry=0
</Proxy>
ProxyPass "/" "balancer://none/"
END_CONF
for my $method (qw(GET POST)) {
    is(http_request($alone->port, $method => '/page')->{status}, 503, "$method where no member is there");
}
allow_log(qr/\[proxy(?:_http|_balancer)?:/);
done_testing;

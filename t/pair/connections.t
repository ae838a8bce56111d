# Many requests on one connection, many connections at once, pipelines.
use strict;
use warnings;

use CRCSync::Pages;
use CRCSync::Pair;
use CRCSync::Test;
use POSIX ();

my $origin = CRCSync::Origin->start;
my $pair = CRCSync::Pair->start(to => $origin->port);
my @type = ('Content-Type' => 'text/html');
my %page = map { ("/page$_" => text(10_000 * $_, $_)) } 1 .. 5;
$origin->put($_, body => $page{$_}, fields => [@type]) for keys %page;

my $client = CRCSync::Http->new($pair->port);
for my $turn (1 .. 4) {
    for my $target (sort keys %page) {
        substr $page{$target}, 500, 6, "turn $turn";
        $origin->put($target, body => $page{$target}, fields => [@type]);
        is_body($client->request(GET => $target)->{body}, $page{$target}, "$target, turn $turn, one connection");
    }
}
my @exchanges = $pair->relay->exchanges;
is(scalar(grep { (field($_->{response}, 'Content-Encoding') // '') eq 'crcsync' } @exchanges), 15, 'all but the first: deltas');
cmp_ok($exchanges[-1]{connection}, '<', 10, 'connections between the modules are kept');

my @targets = map { "/page$_" } 1 .. 5, 3, 1;
$client->send_request(GET => $_) for @targets;
is_body($client->response->{body}, $page{$_}, "$_ in a pipeline") for @targets;

# Mixed with other methods, so that one response's end is right for the next.
is($client->request(HEAD => '/page1')->{status}, 200, 'HEAD');
is_body($client->request(GET => '/page1')->{body}, $page{'/page1'}, 'GET after HEAD');
is($client->request(POST => '/page1', body => 'x=1')->{status}, 200, 'POST');
is_body($client->request(GET => '/page2')->{body}, $page{'/page2'}, 'GET after POST');
is($client->request(GET => '/none')->{status}, 404, 'a page that is not there');
is_body($client->request(GET => '/page2')->{body}, $page{'/page2'}, 'GET after 404');

# Readers at once, on a page that changes with each request: each gets one of the pages, whole.
my $changing = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        my $page = CRCSync::Pages::page('many', $request->{number}, 20_000);
        $connection->send(CRCSync::Origin::response(body => $page, fields => [@type, 'X-Serial' => $request->{number}]));
    }
);
my $many = CRCSync::Pair->start(to => $changing->port);
my @readers;
for my $reader (1 .. 10) {
    my $pid = fork // die;
    if (!$pid) {
        my $wrong = 0;
        for (1 .. 20) {
            my $response = eval { http_get($many->port, '/page') };
            my $serial = $response ? field($response, 'X-Serial') : 0;
            $wrong++ unless $serial && $response->{complete}
                && $response->{body} eq CRCSync::Pages::page('many', $serial, 20_000);
        }
        POSIX::_exit($wrong);
    }
    push @readers, $pid;
}
my @wrong = map { waitpid($_, 0); $? >> 8 } @readers;
is("@wrong", '0 0 0 0 0 0 0 0 0 0', 'C28: ten readers, twenty pages each: no wrong byte');
my @log = $many->client->log(200);
cmp_ok(scalar(grep { $_->{result} eq 'delta' } @log), '>', 100, 'most of them as deltas');

done_testing;

# Bases are forgotten when the origin says so (Clear-Site-Data), and when the administrator empties the cache (C32).
use strict;
use warnings;

use CRCSync::ClientAlone;
use CRCSync::Delta qw(make_delta);
use CRCSync::Test;
use File::Path qw(remove_tree);

# The delta of a page that has not changed.
sub unchanged {
    my ($page) = @_;
    return (make_delta($page, CRCSync::ClientAlone::BLOCKS, map { [$_] } 0 .. CRCSync::ClientAlone::BLOCKS - 1))[0];
}

my @html = ('Content-Type' => 'text/html');
my $others_page = text(9_000, 3);
my $other = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        my @answer = (body => $others_page, fields => [@html]);
        if (defined field($request, 'If-Block')) {
            @answer = (body => unchanged($others_page), fields => [@html, 'Content-Encoding' => 'crcsync']);
        }
        CRCSync::Origin::send_answer($request, $connection, @answer);
    }
);
my $alone = CRCSync::ClientAlone->start(
    vars  => {OTHER => $other->port},
    proxy => 0,
    conf  => qq{ProxyPass "/other/" "http://127.0.0.1:\@OTHER\@/"\nProxyPass "/" "http://127.0.0.1:\@TO\@/"\n},
);
my $says = text(5_000, 4);
my %page = ('/a' => text(20_000, 1), '/b' => text(15_000, 2));

sub offered {
    my ($target) = @_;
    $alone->requests;
    $alone->get($target);
    return defined field(($alone->requests)[-1], 'If-Block') ? 1 : 0;
}

sub offered_by_other {
    $other->requests;
    $alone->get('/other/page');
    return defined field(($other->requests)[-1], 'If-Block') ? 1 : 0;
}

# Two pages of the origin and one of another have bases.
sub keep_all {
    for my $target (sort keys %page) {
        $alone->full($target, body => $page{$target}, fields => [@html]);
        $alone->delta($target, unchanged($page{$target}));
        $alone->get($target);
    }
    $alone->get('/other/page');
    return;
}

sub says {
    my ($value, %more) = @_;
    my @fields = (@html, 'Clear-Site-Data' => $value);
    $alone->full('/says', body => $says, fields => [@fields], %more);
    $alone->delta('/says', unchanged($says), @fields);
    return;
}

keep_all();
ok(offered('/a') && offered('/b') && offered_by_other(), 'C32: all pages have bases');
for my $value ('"cookies"', 'cache', '*', '"storage", "executionContexts"', '"Cache"') {
    says($value);
    my $response = $alone->get('/says');
    is(field($response, 'Clear-Site-Data'), $value, "$value reaches the reader");
    ok(offered('/a') && offered('/b'), "C32: $value is none of ours");
}

for my $case (
    [GET    => '"cache"'],
    [GET    => '"*"'],
    [POST   => '"cookies", "cache"'],
    [HEAD   => '"cache"', status => 404],
    [DELETE => '"storage","*"', status => 204, body => ''],
) {
    my ($method, $value, %more) = @$case;
    keep_all();
    says($value, %more);
    $alone->requests;
    my $response = $alone->request($method => '/says');
    is($response->{status}, $more{status} // 200, "$method: the status");
    is(field($response, 'Clear-Site-Data'), $value, "$method: the reader has it too");
    is($alone->note('reason'), 'cleared', "$method: the reason") if $method eq 'GET';
    ok(!offered('/a') && !offered('/b'), "C32: $method, $value: no base is offered");
    ok(offered_by_other(), "C32: $method, $value: the other origin's are");
    ok(offered('/a') && offered('/b'), "C32: $method, $value: new bases are kept");
    ok(!offered('/says'), "C32: $method, $value: the response itself is no base") if $method eq 'GET';
}

# It holds over a restart: what is in shared memory then is gone, and the old files are still there.
keep_all();
says('"cache"');
$alone->get('/says');
$alone->client->restart;
ok(!offered('/a'), 'C32: after a restart no old base comes back');
ok(offered('/a'), 'C32: and the new one stays');
$alone->client->restart;
ok(offered('/a'), 'C32: over another restart too');

# The administrator's purge, while httpd runs.
keep_all();
remove_tree($alone->client->dir . '/cache', {keep_root => 1});
for my $target (sort keys %page) {
    $alone->body_ok($target, $page{$target}, "after the purge, $target");
    is($alone->note('reason'), 'no-base', "C32: after a purge there is no base of $target");
    ok(offered($target), "C32: and then there is one again");
}
done_testing;

# The origin that Apache::Test runs, asked without any proxy.
use strict;
use warnings;

use CRCSync::Test;
use CRCSync::Pages;

my $port = apache_test('port');
my $state = apache_test('t_state');

is(http_get($port, '/')->{status}, 200, 'the index page');
for my $serial (1 .. 3) {
    my $response = http_get($port, '/dynamic?key=harness');
    is(field($response, 'X-Serial'), $serial, "page $serial");
    is_body($response->{body}, slurp("$state/harness.$serial"), 'as recorded');
    is_body($response->{body}, CRCSync::Pages::page('harness', $serial, 100_000), 'as generated');
}
my $response = http_get($port, '/nowhere');
is($response->{status}, 404, 'a missing page');
like($response->{body}, qr/There is no such page/, 'has the ErrorDocument');
like(http_get($port, '/included.shtml')->{body}, qr/Before.*The index page.*After/s, 'SSI');
is(http_get($port, '/cgi-bin/hello.pl?you')->{body}, "Hello, you\n", 'CGI');
is(field(http_get($port, '/gzip/index.html', 'Accept-Encoding' => 'gzip'), 'Content-Encoding'), 'gzip', 'gzip');
is(field(http_get($port, '/br/index.html', 'Accept-Encoding' => 'br'), 'Content-Encoding'), 'br', 'br');
is(http_get($port, '/moved')->{status}, 302, 'a redirect');
is(http_get($port, '/rewritten/index.html')->{status}, 200, 'mod_rewrite');
like(http_request($port, POST => '/echo', body => 'hello')->{body}, qr/^POST \/echo\n.*\n\nhello$/s, 'a POST');
my @sizes;
my $client = CRCSync::Http->new($port);
$client->send_request(GET => '/flush?bytes=1000&piece=100&pause=20');
$client->response(progress => sub { push @sizes, length $_[0]{body} if $_[0]; return 0 });
cmp_ok(scalar(grep { $_ < 1000 } @sizes), '>', 2, 'flushes come through one by one');

done_testing;

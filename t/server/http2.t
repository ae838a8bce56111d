# The server module behind HTTP/2, where each request runs on a connection of its own inside httpd.
use strict;
use warnings;

use CRCSync::Delta qw(if_block apply_delta);
use CRCSync::ServerAlone;
use CRCSync::Test;

my $work = CRCSync::Work::new_dir('curl');
system("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 "
        . "-addext basicConstraints=critical,CA:FALSE "
        . "-keyout $work/key.pem -out $work/cert.pem 2>$work/log") == 0
    or die slurp("$work/log");
my $origin = CRCSync::Origin->start;
my $server = CRCSync::ServerAlone->start(
    modules => [qw(ssl socache_shmcb http2)],
    vars    => {TO => $origin->port},
    ports   => ['TLS'],
    conf    => <<"END",
SSLSessionCache shmcb:\@DIR\@/sessions(512000)
Listen 127.0.0.1:\@TLS\@
<VirtualHost 127.0.0.1:\@TLS\@>
    ServerName 127.0.0.1:\@TLS\@
    SSLEngine On
    SSLCertificateFile $work/cert.pem
    SSLCertificateKeyFile $work/key.pem
    Protocols h2 http/1.1
    ProxyPass /proxied/ http://127.0.0.1:\@TO\@/
</VirtualHost>
END
);
my $site = 'https://127.0.0.1:' . $server->httpd->port('TLS');
my @curl = ('curl', '-s', '--noproxy', '*', '--cacert', "$work/cert.pem", '--http2');
my $page = text(100_000, 1);
my @ask = ('changed' . $page, 50);
my $field = if_block(@ask);
my @children = $server->httpd->children;

# (curl's exit status, head, body)
sub curl {
    my ($path, @fields) = @_;
    unlink "$work/head", "$work/body";
    my @options = map { ('-H', $_) } @fields;
    system @curl, '-D', "$work/head", '-o', "$work/body", @options, "$site$path";
    return ($? >> 8, map { -e "$work/$_" ? slurp("$work/$_") : '' } qw(head body));
}

$server->page('page.html', $page);
my ($exit, $head, $body) = curl('/page.html', "If-Block: $field");
is($exit, 0, 'a delta');
like($head, qr/^HTTP\/2 200/, 'over HTTP/2');
like($head, qr/^content-encoding: crcsync\r$/mi, 'its coding');
like($head, qr/^vary: If-Block\r$/mi, 'its Vary');
my ($tag) = $head =~ /^etag: (".*-crcsync-identity")\r$/mi;
ok(defined $tag, 'its tag');
is_body(apply_delta($body, @ask), $page, 'its bytes');

($exit, $head) = curl('/page.html', "If-Block: $field", "If-None-Match: $tag");
like($head, qr/^HTTP\/2 304/, '304: status');
like($head, qr/^etag: \Q$tag\E\r$/mi, 'its tag');
like($head, qr/^capability: crcsync; m=1\r$/mi, 'its Capability');
like($head, qr/^vary: If-Block\r$/mi, 'its Vary');

($exit, $head, $body) = curl('/page.html', "If-Block: $field", "If-Block: $field");
is_body($body, $page, 'two fields: the full page');

# Cut off in the middle: the stream is reset, which curl calls an error.
my $half = substr $page, 0, 50_000;
for (['a length', 'Content-Length: 100000', $half], ['chunked', 'Transfer-Encoding: chunked', "186a0\r\n$half"]) {
    my ($name, $fields, $cut) = @$_;
    $origin->put('/cut', raw => "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n$fields\r\n\r\n$cut", close => 1);
    ($exit, $head, $body) = curl('/proxied/cut', "If-Block: $field");
    ok($exit != 0 || $head =~ /^HTTP\/2 502/, "$name, cut: curl sees it ($exit)");
    ok(!defined eval { apply_delta($body, @ask) }, "$name, cut: no whole delta");
}
allow_log(qr/\[proxy(?:_http)?:error\]/);

# Many streams on one connection.
system(@curl, '--parallel', '-H', "If-Block: $field", '--stderr', "$work/progress",
    map { ('-o', "$work/body.$_", "$site/page.html?$_") } 1 .. 40);
my $right = grep { (eval { apply_delta(slurp("$work/body.$_"), @ask) } // '') eq $page } 1 .. 40;
is($right, 40, '40 streams at once, each with its delta');

$server->children_live(@children);
done_testing;

# Readers that speak HTTP/2, over TLS and in clear, to the client proxy.
use strict;
use warnings;

use CRCSync::Pair;
use CRCSync::Test;

my $keys = CRCSync::Work::new_dir('keys');
system("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE "
        . "-keyout $keys/key.pem -out $keys/cert.pem 2>$keys/log") == 0
    or die slurp("$keys/log");

my $origin = CRCSync::Origin->start;
my $pair = CRCSync::Pair->start(
    to             => $origin->port,
    # mod_http2 does not work in prefork.
    mpm            => ($ENV{CRCSYNC_MPM} // '') eq 'prefork' ? 'event' : undef,
    client_modules => [qw(ssl socache_shmcb http2)],
    client_ports   => ['TLS'],
    client         => <<"END",
Protocols h2 h2c http/1.1
SSLSessionCache shmcb:\@DIR\@/sessions(512000)
Listen 127.0.0.1:\@TLS\@
<VirtualHost 127.0.0.1:\@TLS\@>
    ServerName 127.0.0.1:\@TLS\@
    SSLEngine On
    SSLCertificateFile $keys/cert.pem
    SSLCertificateKeyFile $keys/key.pem
    Protocols h2 http/1.1
    ProxyPass "/" "http://127.0.0.1:\@TO\@/"
    CRCSyncClient On
</VirtualHost>
END
);

# The body, and what curl says of it: status and version.
sub curl {
    my ($url, @options) = @_;
    my $out = "$keys/body";
    unlink $out;
    open my $pipe, '-|', 'curl', '-sS', '--noproxy', '*', '--cacert', "$keys/cert.pem", '-o', $out, '-w',
        '%{http_code} %{http_version}', @options, $url
        or die "curl: $!\n";
    my $said = do { local $/ = undef; <$pipe> };
    close $pipe;
    return (-e $out ? slurp($out) : '', $said // '');
}

my $page = text(80_000);
my $fetches = 0;
for my $how (['h2', 'https', 'TLS', '--http2'], ['h2c', 'http', 'PORT', '--http2-prior-knowledge'], ['1.1', 'https', 'TLS', '--http1.1']) {
    my ($name, $scheme, $port, @options) = @$how;
    for my $turn (1 .. 3) {
        substr $page, 4_000 * $turn, 12, "$name, turn $turn " =~ s/^(.{12}).*/$1/r;
        $origin->put('/page', body => $page, fields => ['Content-Type' => 'text/html', ETag => "\"$name$turn\""]);
        my ($body, $said) = curl("$scheme://127.0.0.1:" . $pair->client->port($port) . '/page', @options);
        is($said, $name eq '1.1' ? '200 1.1' : '200 2', "$name, fetch $turn: status and version");
        is_body($body, $page, "$name, fetch $turn: bytes");
        my @exchanges = $pair->relay->exchanges;
        is(field($exchanges[-1]{response}, 'Content-Encoding'), 'crcsync', "$name, fetch $turn: a delta") if $fetches++;
    }
}

# Several at once on one connection.
my %page;
for my $n (1 .. 6) {
    $page{$n} = text(20_000 * $n, $n);
    $origin->put("/many/$n", body => $page{$n}, fields => ['Content-Type' => 'text/html']);
}
for my $turn (1 .. 3) {
    my $tls = $pair->client->port('TLS');
    system('curl', '-sS', '--no-progress-meter', '--noproxy', '*', '--cacert', "$keys/cert.pem", '--http2', '--parallel', '-o', "$keys/many.#1",
        "https://127.0.0.1:$tls/many/[1-6]") == 0 or fail('curl');
    is_body(slurp("$keys/many.$_"), $page{$_}, "page $_ of six at once, turn $turn") for 1 .. 6;
}

done_testing;

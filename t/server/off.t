# C22: loaded but off, the modules cost nothing: no filter, no notes, no fields, and no more than the checks that find this
# out. What a request costs is counted in instructions (by valgrind), not in time: with both modules loaded, and without.
use strict;
use warnings;

use CRCSync::Httpd;
use CRCSync::Origin;
use CRCSync::Test;

my ($few, $many) = (20, soak(fast => 120, full => 1_020));
my $origin = CRCSync::Origin->start(
    sub { $_[1]->send(CRCSync::Origin::response(body => text(5_000, 1), fields => ['Content-Type' => 'text/html'])) });

sub start {
    my ($name, @options) = @_;
    my $httpd = CRCSync::Httpd->start(
        name => $name,
        mpm  => 'prefork',
        vars => {TO => $origin->port},
        conf => "LogLevel notice\nMaxKeepAliveRequests 0\nProxyPass /proxied/ http://127.0.0.1:\@TO\@/\n",
        @options
    );
    spew($httpd->dir . '/htdocs/page.html', text(5_000, 2));
    return $httpd;
}

# --- What can be seen from outside.
my @without = (without => [qw(crccache_server crccache_client)]);
my %httpd = (off => start('off'), absent => start('absent', @without));
for my $target ('/page.html', '/proxied/page', '/none') {
    my %response = map {
        $_ => http_get($httpd{$_}->port, $target, 'If-Block' => 'crcsync-1;x', 'Accept-Encoding' => 'gzip')
    } keys %httpd;
    my ($off, $absent) = map { "$_->{status} " . fields_of($_, qw(ETag Last-Modified)) } @response{qw(off absent)};
    is($off, $absent, "C22: $target: the same status and fields, loaded or not");
    my @bodies = map { $_->{body} =~ s/port \d+//r } @response{qw(off absent)};
    is_body(@bodies, "C22: $target: the same body");
}
for my $line ($httpd{off}->log(3)) {
    my @notes = map { $line->{$_} } qw(result reason base instance-bytes wire-bytes);
    is("@notes", '- - - - -', "C22: $line->{url}: no notes");
}
my @upstream = map { my $request = $_; fields_of($request, 'Host') =~ s/:\d+//gr } $origin->requests;
is($upstream[0], $upstream[1], 'C22: upstream sees the same request');
$_->stop for values %httpd;

# A module built with a sanitizer needs a run-time library that valgrind does not run; its counts would mean nothing.
if (($ENV{CRCSYNC_HTTPD} // '') =~ m{/bin/httpd$}) {
    diag('built with a sanitizer: instructions are not counted');
    done_testing;
    exit 0;
}

# --- What it costs. One process, one connection, so that the counts are the same each time.
my ($valgrind, $runs) = (CRCSync::Work::new_dir('valgrind'), 0);

sub instructions {
    my ($count, @options) = @_;
    my $log = "$valgrind/" . ++$runs;
    spew("$log.sh", <<"END");
#!/bin/sh
exec valgrind --tool=cachegrind --cache-sim=no --branch-sim=no --cachegrind-out-file=/dev/null --log-file=$log.log \\
    /usr/sbin/apache2 -X "\$@"
END
    chmod 0755, "$log.sh";
    local $CRCSync::Httpd::program = "$log.sh";
    my $httpd = start('counted', @options);
    my $http = CRCSync::Http->new($httpd->port);
    for (1 .. $count) {
        $http->request(GET => $_)->{status} == 200 or die "$_ under valgrind\n" for '/page.html', '/proxied/page';
    }
    $http->close;
    $httpd->log(2 * $count);
    $httpd->stop;
    return slurp("$log.log") =~ /I\s+refs:\s+([\d,]+)/ ? $1 =~ tr/,//dr : die "valgrind: " . slurp("$log.log");
}

my %cost;
for my $name (qw(off absent)) {
    my @options = $name eq 'off' ? () : @without;
    $cost{$name} = (instructions($many, @options) - instructions($few, @options)) / (2 * ($many - $few));
    figure("C22: instructions for a request, modules $name" => sprintf '%.0f', $cost{$name});
}
my $ratio = $cost{off} / $cost{absent};
figure('C22: ratio of them' => sprintf '%.4f', $ratio);
cmp_ok($ratio, '<', 1.02, 'C22: loaded but off costs less than two in a hundred instructions');

done_testing;

#!/usr/bin/perl
# Starts an origin, a server proxy and a client proxy with a slow link between the two, fetches a page that changes at
# each request, checks every body against what the origin sent, and prints what crossed the link and how long it took.
# See --help. build/demo.sh installs and builds what this needs, and calls it.
use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use FindBin;
use Getopt::Long;
use lib "$FindBin::Bin/../lib";
use CRCSync::Rig;

my $usage = <<'TEXT';
usage: build/demo.sh [--keep] [--no-times] [--modules DIR]

  --keep         leaves the servers running afterwards, until Ctrl-C, and prints what to put into a browser's
                 proxy setting
  --no-times     only counts bytes, which takes seconds; the times take two minutes
  --modules DIR  takes the modules from DIR (a build tree, or where they are installed) and builds nothing

Exit status: 0 when every body was equal to the origin's and every page after the first came as a delta, otherwise 1.
TEXT

my $site    = 'http://news.example/';
my $fetches = 10;

# What is measured. Rate in bit/s, delay one way in ms; `times`: how often the page is fetched plain, with gzip, as
# delta.
my @links = (
    {name => 'no limit'},
    {name => '56 kbit/s', rate => 56_000, times => [2, 4, 8]},
    {name => '1 Mbit/s, 600 ms round trip', rate => 1_000_000, delay => 300, times => [4, 5, 6]},
    {name => '20 Mbit/s', rate => 20_000_000, times => [10, 10, 10]},
);

my ($rig, $origin, %checked, @faults);
$SIG{$_} = sub { exit 130 } for qw(INT HUP PIPE);
$SIG{TERM} = sub { exit 143 };
END { $rig->stop if $rig }

exit(eval { main() } // failed($@));

sub failed {
    my ($why) = @_;
    print STDERR "\n$why", map { "httpd: $_" } $rig ? $rig->errors : ();
    return 1;
}

sub main {
    my %option;
    GetOptions(\%option, qw(keep no-times modules=s help)) && !@ARGV or die $usage;
    if ($option{help}) {
        print $usage;
        return 0;
    }
    $| = 1;
    my $client = start_all($option{modules});
    count_bytes($links[0]);
    measure_times(grep { $_->{times} } @links) if !$option{'no-times'};
    my $status = verdict();
    keep_running($client) if $option{keep};
    $rig->stop;
    return $status;
}

# The servers, and for each link two relays with a port of the client proxy in front: {delta} and {plain}.
sub start_all {
    my ($modules) = @_;
    print "Starting origin, server proxy and client proxy on 127.0.0.1 ...\n";
    $rig = CRCSync::Rig->new(modules => $modules);
    my $root = $rig->dir . '/origin';
    mkdir $_ or die "$_: $!\n" for $root, "$root/state", "$root/site";
    # Copies: httpd's children may not be allowed to read where the sources are.
    for my $file (qw(page.cgi picture.svg)) {
        CRCSync::Rig::spew("$root/site/$file", CRCSync::Rig::slurp("$FindBin::Bin/$file"));
    }
    chmod 0755, "$root/site/page.cgi" or die "page.cgi: $!\n";
    $rig->give_to_server("$root/state");

    $origin = $rig->httpd(origin => "$FindBin::Bin/origin.conf", ports => ['ORIGIN_PORT']);
    my $server = $rig->httpd(
        server => "$FindBin::Bin/server.conf",
        flags  => ['SERVER'],
        ports  => ['DELTA_PORT', 'PLAIN_PORT'],
        define => $origin->{port},
    );
    for my $link (@links) {
        for my $kind (qw(delta plain)) {
            my $port = $server->{port}{uc($kind) . '_PORT'};
            $link->{$kind}{relay} = $rig->relay(to => $port, rate => $link->{rate}, delay => $link->{delay});
        }
    }
    my @sides = map { my $link = $_; map { [$link->{$_}, $_ eq 'delta' ? 'On' : 'Off'] } qw(delta plain) } @links;
    my $file = $rig->dir . '/links.conf';
    my $client = $rig->httpd(
        client => "$FindBin::Bin/client.conf",
        flags  => ['CLIENT'],
        ports  => [map { "LINK_$_" } 0 .. $#sides],
        define => {LINKS => $file},
        before => sub {
            my ($port) = @_;
            my $lines = '';
            for my $n (0 .. $#sides) {
                my ($side, $switch) = @{$sides[$n]};
                $side->{port} = $port->{"LINK_$n"};
                $lines .= "Use Link 127.0.0.1:$side->{port} 127.0.0.1:$side->{relay}{port} $switch\n";
            }
            CRCSync::Rig::spew($file, $lines);
        },
    );
    return $client;
}

# Fetches the page once through one side of a link: `gzip` as a browser does, `replay` page number N once more. Checks
# the body, and returns bytes and time.
sub fetch {
    my ($side, %how) = @_;
    my $dir = $rig->dir;
    $side->{relay}->traffic if $side->{relay};
    my @command = (
        'curl', '-q', '--silent', '--show-error', '--max-time', '300', '--noproxy', '',
        '--proxy', "http://127.0.0.1:$side->{port}",
        '--dump-header', "$dir/head", '--output', "$dir/body", '--write-out', '%{time_total}',
    );
    push @command, '--compressed' if $how{gzip};
    CRCSync::Rig::spew("$origin->{root}/state/replay", $how{replay}) if $how{replay};
    $rig->run(@command, $site);
    my $seconds = CRCSync::Rig::slurp("$dir/run.log");
    my ($head, $body) = map { CRCSync::Rig::slurp("$dir/$_") } qw(head body);
    my ($status) = $head =~ m{^HTTP/\S+ (\d+)};
    my ($serial) = $head =~ /^X-Demo-Serial: (\d+)/mi;
    die "The demo's page has status $status:\n$head$body\n" if !defined $serial || $status != 200;
    my $traffic = $side->{relay} ? $side->{relay}->traffic : {};
    my $recorded = CRCSync::Rig::slurp("$origin->{root}/state/$serial.sha256");
    my $equal = sha256_hex($body) eq $recorded;
    push @faults, "The body of page $serial differs from what the origin sent" if !$equal;
    $checked{bodies}++;
    my ($response) = split /\r\n\r\n/, $traffic->{responses} // '', 2;
    return {
        serial => $serial, page => length $body, up => $traffic->{up}, down => $traffic->{down}, seconds => $seconds,
        equal => $equal, delta => scalar(($response // '') =~ /^Content-Encoding:.*\bcrcsync\b/mi),
    };
}

sub count_bytes {
    my ($link) = @_;
    print <<"TEXT";

Bytes on the link between the two proxies, request and response with their header fields. Each row is one version of
the page, sent three times: plain, with gzip, and through the modules, there in both directions apart: up to the origin
and down to the reader. The reader accepts gzip, so the first visit through the modules, which has no older version to
build on, costs what gzip does.

 page     size |   plain    gzip |    up    down    both  crcsync     | of gzip | SHA-256
TEXT
    my @rows = map { fetch($link->{delta}, gzip => 1) } 1 .. $fetches;
    my %sum;
    for my $row (@rows) {
        my $plain = fetch($link->{plain}, replay => $row->{serial});
        my $gzip = fetch($link->{plain}, replay => $row->{serial}, gzip => 1);
        my %bytes = (
            size => $row->{page}, plain => $plain->{up} + $plain->{down}, gzip => $gzip->{up} + $gzip->{down},
            up => $row->{up}, down => $row->{down}, both => $row->{up} + $row->{down},
        );
        my $kind = $row == $rows[0] && !$row->{delta} ? 'first visit' : $row->{delta} ? 'delta' : 'full';
        print_row($row->{serial}, \%bytes, $kind, $row->{equal} ? 'equal' : 'DIFFERS');
        next if $row == $rows[0];
        $sum{$_} += $bytes{$_} for keys %bytes;
        $checked{later}++;
        if   ($row->{delta}) { $checked{deltas}++ }
        else                 { push @faults, "Page $row->{serial} did not come as a delta" }
    }
    my %mean = map { $_ => $sum{$_} / $checked{later} } keys %sum;
    print_row('mean', \%mean, "pages 2-$fetches", '');
    printf "\nA later visit costs %s bytes: %.1f %% of the plain page's %s, %.1f %% of the %s with gzip.\n",
        commas($mean{both}), 100 * $mean{both} / $mean{plain}, commas($mean{plain}), 100 * $mean{both} / $mean{gzip},
        commas($mean{gzip});
    return;
}

sub print_row {
    my ($name, $bytes, $kind, $equal) = @_;
    printf " %4s  %7s | %7s %7s | %5s %7s %7s  %-11s | %5.1f %% | %s\n", $name,
        map({ commas($bytes->{$_}) } qw(size plain gzip up down both)), $kind, 100 * $bytes->{both} / $bytes->{gzip},
        $equal;
    return;
}

sub measure_times {
    my @measured = @_;
    print <<'TEXT';

Seconds until the reader has the page, mean (and number) of fetches; each makes a new connection over the link. For
crcsync these are later visits. The link is a relay of that rate and delay; TCP's slow start and packet headers are not
in it. What the origin takes to make the page is part of all.

 link                         |        plain |         gzip |      crcsync
TEXT
    for my $link (@measured) {
        my ($plain, $gzip, $delta) = @{$link->{times}};
        my @cells = (
            [map { fetch($link->{plain}) } 1 .. $plain],
            [map { fetch($link->{plain}, gzip => 1) } 1 .. $gzip],
            [map { fetch($link->{delta}, gzip => 1) } 1 .. $delta],
        );
        my $deltas = grep { $_->{delta} } @{$cells[2]};
        push @faults, "Only $deltas of $delta pages at $link->{name} came as a delta" if $deltas < $delta;
        $checked{later} += $delta;
        $checked{deltas} += $deltas;
        printf " %-28s | %s\n", $link->{name}, join ' | ', map { mean_seconds(@$_) } @cells;
    }
    my @direct = map { fetch({port => $origin->{port}{ORIGIN_PORT}}) } 1 .. 10;
    printf " %-28s | %s\n", 'origin, directly', mean_seconds(@direct);
    return;
}

sub mean_seconds {
    my @rows = @_;
    my $sum = 0;
    $sum += $_->{seconds} for @rows;
    return sprintf '%7.3f (%2d)', $sum / @rows, scalar @rows;
}

sub verdict {
    print "\n";
    push @faults, map { chomp; "An httpd logged: $_" } $rig->errors;
    if (@faults) {
        print "FAILED: $_.\n" for @faults;
        return 1;
    }
    printf "All %d bodies are equal to what the origin sent, by SHA-256; %d of %d later pages came as a delta.\n",
        @checked{qw(bodies deltas later)};
    return 0;
}

sub keep_running {
    my ($client) = @_;
    print "\nThe servers run on. Set your browser's HTTP proxy to one of these and open $site\n\n";
    for my $link (@links) {
        printf "  %-28s with crcsync: 127.0.0.1 port %-5d   without: 127.0.0.1 port %d\n", $link->{name},
            $link->{delta}{port}, $link->{plain}{port};
    }
    print <<"TEXT";

or, for example:  curl --proxy 127.0.0.1:$links[0]{delta}{port} $site
Pages of https:// sites pass as they are (CONNECT). Each request through the modules gives a line here. Ctrl-C ends it.

TEXT
    my $ended = 0;
    local @SIG{qw(INT TERM HUP)} = (sub { $ended = 1 }) x 3;
    my $log = "$client->{root}/logs/crcsync.log";
    open my $lines, '<', $log or die "$log: $!\n";
    seek $lines, 0, 2;
    while (!$ended) {
        while (defined(my $entry = <$lines>)) {
            my ($request, $status, $result, $reason, $wire, $instance) =
                $entry =~ /^"(.*)" (\S+) (\S+) (\S+) (\S+) (\S+)$/ or next;
            next if $result eq '-' || $instance eq '-';
            printf "  %s: %s, %s bytes for %s%s\n", $request, $result, commas($wire), commas($instance),
                $reason eq '-' ? '' : " ($reason)";
        }
        seek $lines, 0, 1;
        $_->{relay}->forget for map { @$_{qw(delta plain)} } @links;
        sleep 1;
    }
    print "\nEnding ...\n";
    return;
}

sub commas {
    my ($number) = @_;
    return $number if $number !~ /^[0-9.]+$/;
    my $text = sprintf '%.0f', $number;
    1 while $text =~ s/^(\d+)(\d{3})/$1,$2/;
    return $text;
}

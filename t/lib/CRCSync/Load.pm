# A pair under load: an origin whose pages change with every request and say themselves what they must be, h2load, which is
# fast enough for a million requests, and readers beside it, which compare every byte.
#
#   my $load = CRCSync::Load->new(mpm => 'worker');     # origin and pair, without a relay; client => its directives
#   $load->requests(100_000);                           # a mix of pages, methods, errors; returns how many were answered
#   $load->sample(20);                                  # the number of wrong answers among 20 pages of each kind
#   $load->start_readers(3); ... ; is($load->stop_readers, 0);       # the same in the background
#   $load->counters($httpd)                             # of the status page
#
# A page has X-Serial, the origin's name for the request, and its text holds that name in two places.
package CRCSync::Load;

use strict;
use warnings;

use POSIX ();
use Time::HiRes qw(sleep);

use CRCSync::Http;
use CRCSync::Httpd;
use CRCSync::Pair;
use CRCSync::Test ();
use CRCSync::Work;

# Half of them change at every request, and come as deltas; the others are errors and what must not be touched.
my @changing = qw(/small.shtml /page.shtml /page.shtml?other /long.shtml /vary/page.shtml /zipped/page.shtml);
my @others = qw(/same.html /none.html /private/page.shtml /stream/page.shtml /moved /dead/page);
my %bytes = ('small.shtml' => 2_000, 'page.shtml' => 20_000, 'long.shtml' => 150_000, 'same.html' => 10_000);
my %text;

sub new {
    my ($class, %options) = @_;
    # Children stay: what is measured is theirs.
    my $children =
        ($options{mpm} // '') eq 'prefork'
        ? "StartServers 24\nMinSpareServers 1\nMaxSpareServers 24\nServerLimit 24\nMaxRequestWorkers 24\n"
        : "StartServers 2\nServerLimit 16\nThreadsPerChild 24\nMaxRequestWorkers 48\n"
        . "MinSpareThreads 1\nMaxSpareThreads 48\n";
    # The log of a million requests at level debug would be all that this measures.
    my $common = "LogLevel notice\nMaxConnectionsPerChild 0\nKeepAliveTimeout 60\nMaxKeepAliveRequests 0\n"
        . "$children<Location /crcsync-status>\nProxyPass !\nSetHandler crcsync-status\n</Location>\n";
    my $origin = CRCSync::Httpd->start(
        name    => 'origin',
        mpm     => 'event',
        modules => ['unique_id'],
        without => [qw(crccache_server crccache_client)],
        conf    => <<'END',
LogLevel notice
ThreadsPerChild 60
MaxRequestWorkers 180
MaxKeepAliveRequests 0
KeepAliveTimeout 60
Header set X-Serial "%{UNIQUE_ID}e"
<Directory @DIR@/htdocs>
    Options +Includes
    AddOutputFilter INCLUDES .shtml
    AddType text/html .shtml
</Directory>
Alias /zipped/ @DIR@/htdocs/
Alias /vary/ @DIR@/htdocs/
Alias /private/ @DIR@/htdocs/
Alias /stream/ @DIR@/htdocs/
<Location /zipped/>
    SetOutputFilter INCLUDES;DEFLATE
</Location>
<Location /vary/>
    Header set Vary X-Kind
</Location>
<Location /private/>
    Header set Set-Cookie "id=%{UNIQUE_ID}e"
</Location>
<Location /stream/>
    ForceType text/event-stream
    SetOutputFilter INCLUDES
</Location>
Redirect 302 /moved /same.html
END
    );
    my $self = bless {origin => $origin, faults => {}}, $class;
    for my $name (sort keys %bytes) {
        CRCSync::Work::spew($origin->dir . "/htdocs/$name", page($name, '<!--#echo var="UNIQUE_ID" -->'));
    }
    # Nobody listens on the port of /dead/.
    my $dead = CRCSync::Work::free_port();
    $self->{pair} = CRCSync::Pair->start(
        to     => $origin->port,
        relay  => 0,
        mpm    => $options{mpm},
        server => "$common<Location /dead/>\nProxyPass http://127.0.0.1:$dead/ retry=0\n</Location>\n",
        client => $common . ($options{client} // ''),
    );
    return $self;
}

sub pair { return $_[0]{pair} }

# The text of a page, which is a file with a directive for mod_include as `serial`, or what the reader must get.
sub page {
    my ($name, $serial) = @_;
    $serial = '' if $name eq 'same.html';
    my $text = $text{$name} //= CRCSync::Test::text($bytes{$name}, length $name);
    my $half = length($text) / 2;
    return "<p>$serial</p>\n" . substr($text, 0, $half) . "<p>$serial</p>\n" . substr $text, $half;
}

# How many requests of the mix were answered. Some are HEAD, some conditional.
sub requests {
    my ($self, $count, $connections) = @_;
    my $base = 'http://127.0.0.1:' . $self->{pair}->port;
    my @connections = ('-c', $connections // 8);
    my $some = int $count * 0.05;
    my $tag = CRCSync::Http::field(CRCSync::Http::http_get($self->{pair}->port, '/same.html'), 'ETag');
    my @gzip = ('-H', 'accept-encoding: gzip');
    my $answered = $self->_h2load($count - 2 * $some, @connections, @gzip, map { "$base$_" } @changing, @others);
    return $answered if $some < 8;
    $answered += $self->_h2load($some, @connections, @gzip, '-H', "if-none-match: $tag", "$base/same.html");
    # h2load waits for a body after HEAD; ab does not.
    my $text = _run('ab', '-i', '-k', '-q', '-n', $some, @connections, "$base/same.html");
    return $answered + ($text =~ /^Complete requests:\s+(\d+)/m ? $1 : die "ab: $text\n");
}

sub _h2load {
    my ($self, $count, @arguments) = @_;
    my $text = _run('h2load', '--h1', '-t', 1, '-n', $count, @arguments);
    # What httpd answers with an error status is answered; requests that errored or timed out are not.
    my ($done, $errored) = $text =~ /(\d+) done, .* (\d+) errored/ or die "h2load: $text\n";
    my @statuses = $text =~ /status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx/ or die "h2load: $text\n";
    $self->{statuses}[$_] += $statuses[$_] for 0 .. 3;
    return $done - $errored;
}

# What a command prints.
sub _run {
    my @command = @_;
    my $out = CRCSync::Work::new_dir('load') . '/out';
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        open STDOUT, '>', $out;
        open STDERR, '>&', \*STDOUT;
        exec @command or POSIX::_exit(127);
    }
    waitpid $pid, 0;
    return CRCSync::Work::slurp($out);
}

# How many answers there were of the classes 2xx to 5xx.
sub statuses { return @{$_[0]{statuses}} }

# Wrong answers among `count` of each changing page; text says what was wrong with the last.
sub sample {
    my ($self, $count) = @_;
    my $wrong = 0;
    for my $target (@changing, '/same.html', '/private/page.shtml', '/stream/page.shtml') {
        for (1 .. $count) {
            my $fault = $self->fault($target) // next;
            $self->{fault} = "$target: $fault";
            $self->{faults}{$fault =~ s/ for .*//r}++;
            ++$wrong;
        }
    }
    return $wrong;
}

# What is wrong with one answer; undef if it is right.
sub fault {
    my ($self, $target) = @_;
    my $response = eval { CRCSync::Http::http_get($self->{pair}->port, $target) } // return "no answer: $@";
    return $self->fault_of($target, $response);
}

sub fault_of {
    my ($self, $target, $response) = @_;
    return "status $response->{status}" if $response->{status} != 200;
    return 'not complete' if !$response->{complete};
    my ($name) = $target =~ m{([^/?]+)(?:\?|$)};
    my $serial = CRCSync::Http::field($response, 'X-Serial') // return 'no X-Serial';
    return $response->{body} eq page($name, $serial) ? undef : "wrong bytes for $serial";
}

sub start_readers {
    my ($self, $count) = @_;
    my $stop = $self->{stop} = CRCSync::Work::new_dir('readers') . '/stop';
    for (1 .. $count) {
        my $pid = fork // die "fork: $!\n";
        if (!$pid) {
            my $wrong = 0;
            while (!-e $stop) {
                $wrong += $self->sample(1);
                sleep 0.02;
            }
            warn "$self->{faults}{$_} times: $_\n" for sort keys %{$self->{faults}};
            POSIX::_exit($wrong > 250 ? 250 : $wrong);
        }
        push @{$self->{readers}}, $pid;
    }
    return;
}

sub stop_readers {
    my ($self) = @_;
    CRCSync::Work::spew($self->{stop}, '');
    my $wrong = 0;
    for my $pid (splice @{$self->{readers}}) {
        waitpid $pid, 0;
        $wrong += $? >> 8 || ($? & 127);
    }
    return $wrong;
}

sub counters {
    my ($self, $httpd) = @_;
    my $response = CRCSync::Http::http_get($httpd->port, '/crcsync-status?auto');
    return map { /^(\w+): (\d+)$/ ? ($1, $2) : () } split /\n/, $response->{body};
}

sub stop {
    my ($self) = @_;
    $_->stop for $self->{pair}->client, $self->{pair}->server, $self->{origin};
    return;
}

1;

# What the examples' `run` scripts share: the command line, a page to serve, and the check that a second visit is a
# delta and gives the right bytes.
package CRCSync::Example;

use strict;
use warnings;

use Exporter qw(import);
use Getopt::Long;
use Time::HiRes qw(sleep);

use CRCSync::Rig;

our @EXPORT_OK = qw(run_example);

my $rig;
END { $rig->stop if $rig }

# Runs an example. `about` stands in the usage text. `start` gets the rig, starts the servers and returns what the rest
# needs:
#   client  the httpd with the client module     pages   the directory from which the site's pages are served
#   url     the page's                           curl    the options with which curl fetches it through the pair
#   try     what to tell the user
sub run_example {
    my (%example) = @_;
    my $usage = <<"TEXT";
usage: run [--check] [--modules DIR]

$example{about}
Without options it starts the servers and leaves them running until Ctrl-C. Nothing stays behind.

  --check        fetches a page twice, checks that the second time it was a delta and gave the right bytes, and ends
  --modules DIR  where the modules are (a build tree, or where they are installed)
TEXT
    my %option;
    $SIG{$_} = sub { exit 130 } for qw(INT HUP PIPE);
    $SIG{TERM} = sub { exit 143 };
    $| = 1;
    my $status = eval {
        GetOptions(\%option, qw(check modules=s help)) && !@ARGV or die $usage;
        if ($option{help}) {
            print $usage;
            return 0;
        }
        $rig = CRCSync::Rig->new(modules => $option{modules});
        my $running = $example{start}->($rig);
        if ($option{check}) {
            check($running);
        } else {
            keep_running($running);
        }
        0;
    };
    if (!defined $status) {
        print STDERR $@, map { "httpd: $_" } $rig ? $rig->errors : ();
        $status = 1;
    }
    $rig->stop if $rig;
    exit $status;
}

# Version $n of a page: some text that stays, and a line that does not.
sub page {
    my ($n) = @_;
    my $text = CRCSync::Rig::slurp(CRCSync::Rig::source() . '/LICENSE');
    $text =~ s/([<>&])/sprintf '&#%d;', ord $1/ge;
    my $now = gmtime;
    return "<!DOCTYPE html>\n<title>A page</title>\n<p>Version $n, written at $now UTC</p>\n<pre>\n$text</pre>\n";
}

sub write_page {
    my ($pages, $n) = @_;
    my $page = page($n);
    CRCSync::Rig::spew("$pages/index.html", $page);
    return $page;
}

sub check {
    my ($running) = @_;
    my ($first) = visit($running, 1);
    my ($second) = visit($running, 2);
    die "The first visit should have been a full page, not '$first->{result}' ($first->{reason})\n"
        if $first->{result} ne 'full';
    die "The second visit should have been a delta, not '$second->{result}' ($second->{reason})\n"
        if $second->{result} ne 'delta';
    my @errors = $rig->errors;
    die "An httpd logged an error\n" if @errors;
    print "ok: the second visit was a delta of $second->{wire} bytes for a page of $second->{instance}, ",
        "and both pages are equal to the site's\n";
    return;
}

# Writes version $n of the page, fetches it through the pair, compares it, and returns what became of the request.
sub visit {
    my ($running, $n) = @_;
    my $page = write_page($running->{pages}, $n);
    my $body = $rig->dir . '/body';
    my $log = "$running->{client}{root}/logs/crcsync.log";
    my $seen = length CRCSync::Rig::slurp($log);
    $rig->run(qw(curl -q --silent --show-error --fail --max-time 60 --noproxy), '', @{$running->{curl}}, '--output',
        $body, $running->{url});
    die "Visit $n gave other bytes than the site's\n" if CRCSync::Rig::slurp($body) ne $page;
    # The reader has the page before its line is in the log.
    my $line = CRCSync::Rig::wait_until(sub { substr(CRCSync::Rig::slurp($log), $seen) =~ /^(.*)\n/ ? $1 : undef })
        // die "Visit $n left no line in the log\n";
    my %visit;
    (@visit{qw(result reason wire instance)}) = $line =~ /^".*" \S+ (\S+) (\S+) (\S+) (\S+)$/
        or die "A strange line: $line\n";
    return \%visit;
}

sub keep_running {
    my ($running) = @_;
    my $n = 1;
    write_page($running->{pages}, $n);
    print $running->{try}, <<'TEXT';

The page changes every second. Each visit gives a line here: status, result, reason, bytes on the link, bytes of the
page. Ctrl-C ends it.

TEXT
    my $ended = 0;
    local @SIG{qw(INT TERM HUP)} = (sub { $ended = 1 }) x 3;
    open my $log, '<', "$running->{client}{root}/logs/crcsync.log" or die "The log: $!\n";
    while (!$ended) {
        print <$log>;
        seek $log, 0, 1;
        sleep 1;
        write_page($running->{pages}, ++$n);
    }
    return;
}

1;

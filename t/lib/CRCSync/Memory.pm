# What processes hold, read from /proc: memory, descriptors, shared memory. And how a series of such numbers grows.
#
#   my $memory = CRCSync::Memory->new($httpd);      # its children as they are now
#   ... requests ...
#   $memory->grown;         # kB: the most that any child has held since, beyond what it held then
#   parent_holds($httpd)    # {memory => kB, files => n, shared => n, semaphores => n}
#   growth(@samples)        # what a straight line through the last two thirds of them climbs
#   sanitizer_keeps(3)      # kB of freed memory that a sanitizer may keep in so many children; 0 without one
#
# Memory is resident memory. Its peaks are the kernel's own record (VmHWM), so that none is missed.
package CRCSync::Memory;

use strict;
use warnings;

use Exporter qw(import);

use CRCSync::Httpd;
use CRCSync::Work;

our @EXPORT_OK = qw(sanitizer_keeps parent_holds children_hold growth server_bound client_bound);

# What one request may hold, in kB, as docs/operations.md states it. Sizes are bytes.
sub server_bound {
    my (%size) = @_;
    return 1_024 + (5 * ($size{buffer} // 65_536) + 4 * ($size{block} // 0)) / 1_024;
}

sub client_bound {
    my (%size) = @_;
    return 6_144 + 3 * ($size{hold} // 1 << 20) / 1_024;
}

# AddressSanitizer keeps freed memory, to see who still uses it: t/TEST sets it to 16 MB for each process.
sub sanitizer_keeps {
    my ($children) = @_;
    return $CRCSync::Httpd::program =~ m{/bin/httpd$} ? $children * 20 * 1_024 : 0;
}

sub new {
    my ($class, $httpd) = @_;
    my %before;
    for my $pid ($httpd->children) {
        # Sets VmHWM back to what is held now.
        open my $refs, '>', "/proc/$pid/clear_refs" or die "/proc/$pid/clear_refs: $!\n";
        print $refs '5';
        close $refs or die "/proc/$pid/clear_refs: $!\n";
        $before{$pid} = _kb($pid, 'VmRSS');
    }
    return bless {httpd => $httpd, before => \%before}, $class;
}

# A child that has come since counts in whole, one that has gone is a fault.
sub grown {
    my ($self) = @_;
    my %now = map { $_ => 1 } $self->{httpd}->children;
    my @gone = grep { !$now{$_} } keys %{$self->{before}};
    die "children have gone while their memory was watched: @gone\n" if @gone;
    my $most = 0;
    for my $pid (keys %now) {
        my $grown = _kb($pid, 'VmHWM') - ($self->{before}{$pid} // 0);
        $most = $grown if $grown > $most;
    }
    return $most;
}

# kB of a field of /proc/PID/status.
sub _kb {
    my ($pid, $field) = @_;
    return CRCSync::Work::slurp("/proc/$pid/status") =~ /^$field:\s+(\d+) kB/m ? $1 : die "no $field of process $pid\n";
}

# Anonymous memory of all children together, in kB.
sub children_hold {
    my ($httpd) = @_;
    my $sum = 0;
    for my $pid ($httpd->children) {
        $sum += eval { _kb($pid, 'RssAnon') } // 0;
    }
    return $sum;
}

sub parent_holds {
    my ($httpd) = @_;
    my $pid = $httpd->pid;
    my $maps = CRCSync::Work::slurp("/proc/$pid/maps");
    # Anonymous shared memory is "/dev/zero (deleted)", that of System V "/SYSV...".
    my $shared = () = $maps =~ m{ \S+s \S+ \S+ \S+ +/(?:dev/zero|SYSV)}g;
    my @descriptors = glob "/proc/$pid/fd/*";
    # Sets of System V semaphores say who has made them by user only: those of a test's user are its httpds'.
    my @sets = grep { /^\s*\d/ } split /\n/, CRCSync::Work::slurp('/proc/sysvipc/sem');
    my $mine = grep { (split ' ')[4] == $< } @sets;
    return {memory => _kb($pid, 'RssAnon'), files => scalar @descriptors, shared => $shared, semaphores => $mine};
}

# Least squares over what is left after the warm-up.
sub growth {
    my @y = @_;
    splice @y, 0, int(@y / 3);
    my $n = @y;
    return 0 if $n < 2;
    my ($mean_x, $mean_y) = (($n - 1) / 2, 0);
    $mean_y += $_ / $n for @y;
    my ($above, $below) = (0, 0);
    for my $x (0 .. $n - 1) {
        $above += ($x - $mean_x) * ($y[$x] - $mean_y);
        $below += ($x - $mean_x)**2;
    }
    return sprintf '%.0f', $above / $below * ($n - 1);
}

1;

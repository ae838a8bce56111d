# Faults inside a real httpd, by a library that is loaded before all others (t/preload/faults.cpp).
#
#   my $faults = CRCSync::Faults->new;
#   my $httpd  = CRCSync::Httpd->start(faults => $faults, ...);      # several may share it
#   $faults->fail(7);                # the 7th allocation from now on fails;  fail(7, 1): and all that follow
#   $faults->fail_open(2);           # the same for the 2nd file or socket that any of these processes opens
#   my $failed = $faults->stop;      # how many have failed; from now on none does
#   $faults->clock(-7200);           # the wall clock goes back by two hours
#   $faults->no_shared_memory(1);    # for the modules, at the next start
package CRCSync::Faults;

use strict;
use warnings;

use Fcntl qw(O_RDWR O_CREAT);

use CRCSync::Work;

use constant FOREVER => 2**62;

sub new {
    my ($class) = @_;
    my $file = CRCSync::Work::new_dir('faults') . '/control';
    sysopen my $handle, $file, O_RDWR | O_CREAT or die "$file: $!\n";
    syswrite $handle, "\0" x 56;
    return bless {file => $file, handle => $handle}, $class;
}

# What httpd is started with.
sub environment {
    my ($self) = @_;
    my $library = CRCSync::Work::dir() . '/bin/libcrcsync_faults.so';
    -e $library or die "$library was not built\n";
    return (LD_PRELOAD => $library, CRCSYNC_FAULTS => $self->{file});
}

sub fail { return $_[0]->_fail(0, @_[1 .. $#_]) }
sub fail_open { return $_[0]->_fail(1, @_[1 .. $#_]) }

sub _fail {
    my ($self, $opens, $number, $and_all_after) = @_;
    $self->_write(0, 0);
    $self->_write(6, $opens);
    $self->_write(2, 0, 0);
    $self->_write(1, $and_all_after ? FOREVER : $number);
    $self->_write(0, $number);
    return;
}

sub stop {
    my ($self) = @_;
    $self->_write(0, 0);
    return $self->_read(3);
}

# Allocations that were counted since fail().
sub count { return $_[0]->_read(2) }

sub clock {
    my ($self, $seconds) = @_;
    $self->_write(4, $seconds);
    return;
}

sub no_shared_memory {
    my ($self, $on) = @_;
    $self->_write(5, $on);
    return;
}

sub _write {
    my ($self, $at, @numbers) = @_;
    sysseek $self->{handle}, 8 * $at, 0;
    syswrite $self->{handle}, pack 'q*', @numbers;
    return;
}

sub _read {
    my ($self, $at) = @_;
    sysseek $self->{handle}, 8 * $at, 0;
    sysread $self->{handle}, my $bytes, 8;
    return unpack 'q', $bytes;
}

1;

# Readers that go on by themselves while a test makes trouble: processes, each with a connection of its own, which fetch
# stamped pages (CRCSync::Stamped) and check every one.
#
#   my $readers = CRCSync::Readers->start(port => $pair->port, targets => ['/a', '/b'], count => 4);
#   ... trouble ...
#   my %sum = $readers->stop;        # right, errors (5xx), broken (connections and pages cut off), wrong
package CRCSync::Readers;

use strict;
use warnings;

use POSIX ();
use Time::HiRes qw(sleep);

use CRCSync::Http;
use CRCSync::Stamped;
use CRCSync::Work;

# Options: fetches (each reader ends by itself after so many), pause (seconds between two fetches of one reader).
sub start {
    my ($class, %options) = @_;
    my $dir = CRCSync::Work::new_dir('readers');
    my $self = bless {dir => $dir, pids => [], %options}, $class;
    for my $reader (1 .. $options{count}) {
        my $pid = fork // die "fork: $!\n";
        if (!$pid) {
            my %sum = (right => 0, errors => 0, broken => 0, wrong => 0);
            eval { $self->_read($reader, \%sum); 1 } or warn "reader $reader: $@";
            CRCSync::Work::spew("$dir/$reader", join ' ', %sum);
            POSIX::_exit(0);
        }
        push @{$self->{pids}}, $pid;
    }
    return $self;
}

sub _read {
    my ($self, $reader, $sum) = @_;
    my $parent = getppid;
    my @targets = @{$self->{targets}};
    my $client;
    for (my $fetch = 0; !-e "$self->{dir}/stop" && getppid == $parent; $fetch++) {
        last if $self->{fetches} && $fetch == $self->{fetches};
        my $target = $targets[($reader + $fetch) % @targets];
        my $reused = defined $client;
        my $get = sub {
            return eval {
                $client //= CRCSync::Http->new($self->{port});
                $client->request(GET => $target);
            };
        };
        my $response = $get->();
        if (!$response && $reused) {
            # A server may close a connection that it has kept alive at any time; every client asks again then.
            $client->close;
            undef $client;
            $response = $get->();
        }
        my $what =
            !$response || !$response->{complete} ? 'broken'
            : $response->{status} =~ /^5/        ? 'errors'
            : $response->{status} == 200 && CRCSync::Stamped::version($target, $response->{body}) ? 'right'
            :                                                                                     'wrong';
        $sum->{$what}++;
        if ($what eq 'wrong') {
            CRCSync::Work::spew("$self->{dir}/wrong.$reader.$fetch", "$response->{head}$response->{body}");
        }
        my $ends = $response && $response->{complete} && (CRCSync::Http::field($response, 'Connection') // '') !~ /close/i;
        if (!$ends) {
            $client->close if $client;
            undef $client;
        }
        open my $out, '>>', "$self->{dir}/progress" or die "progress: $!\n";
        syswrite $out, '.';
        sleep($self->{pause} // 0.01);
    }
    $client->close if $client;
    return;
}

# Waits until the readers together have made `count` fetches more.
sub more {
    my ($self, $count) = @_;
    my $size = sub { -s "$self->{dir}/progress" || 0 };
    my $end = $size->() + $count;
    CRCSync::Work::wait_for("$count fetches", sub { $size->() >= $end }, 120);
    return;
}

sub stop {
    my ($self) = @_;
    CRCSync::Work::spew("$self->{dir}/stop", '');
    return $self->wait;
}

# Waits until all readers have ended.
sub wait {
    my ($self) = @_;
    waitpid $_, 0 for @{$self->{pids}};
    my %sum = (right => 0, errors => 0, broken => 0, wrong => 0);
    for my $reader (1 .. $self->{count}) {
        my %one = -e "$self->{dir}/$reader" ? split ' ', CRCSync::Work::slurp("$self->{dir}/$reader") : (wrong => 1);
        $sum{$_} += $one{$_} for keys %one;
    }
    return %sum;
}

1;

# How Apache::Test runs here: one httpd for a run, with the origin as main server, and a server proxy, a client proxy
# and a forward proxy as virtual hosts of the same process (t/conf/httpd.conf.in).
#
# Apache::Test would write a Listen on 0.0.0.0 for each virtual host: ours are written out, on 127.0.0.1, with ports
# chosen here.
package CRCSync::TestRun;

use strict;
use warnings;

use parent 'Apache::TestRun';

use CRCSync::ErrorLog;
use CRCSync::Httpd;
use CRCSync::Work;

# Ports: the main server has the first, each of these the next.
my @ports = qw(server_port client_port forward_port relay_port);

sub main {
    my ($class, @arguments) = @_;
    my $work = CRCSync::Work::dir();
    my $base = CRCSync::Work::free_port(1 + @ports);
    # Apache::Test finds its directories from the name of the program.
    $0 = "$work/t/TEST";
    $ENV{APACHE_TEST_ULIMIT_SET} = 1;
    # What /etc/apache2 has is not inherited.
    my $mpm = $ENV{CRCSYNC_MPM} || 'event';
    my $file = "$CRCSync::Httpd::module_dir/mod_mpm_$mpm.so";
    CRCSync::Work::spew("$work/inherited.conf", "LoadModule mpm_${mpm}_module $file\n");
    mkdir "$work/t/state";
    mkdir "$work/t/state/cache" or die "$work/t/state/cache: $!\n";
    my ($user, $group) = (scalar getpwuid $<, scalar getgrgid $();
    my $run = $class->new;
    $run->{base_port} = $base;
    $run->run(
        -httpd      => $ENV{CRCSYNC_HTTPD} // '/usr/sbin/apache2',
        -httpd_conf => "$work/inherited.conf",
        -port       => $base,
        -servername => '127.0.0.1',
        -user       => $user,
        -group      => $group,
        @arguments
    );
    my @complaints = $run->complaints;
    print STDERR "Apache::Test's server: $_\n" for @complaints;
    exit(@complaints ? 1 : 0);
}

# What the server's log holds from its start and its end, which no test file sees.
sub complaints {
    my ($self) = @_;
    my $log = "$self->{test_config}{vars}{t_logs}/error_log";
    return unless -e $log;
    return grep { /exit signal|Sanitizer|runtime error:|:(?:crit|alert|emerg)\]/ } split /\n/, CRCSync::Work::slurp($log);
}

sub new_test_config {
    my ($self) = @_;
    my $work = CRCSync::Work::dir();
    my %vars = (mpm_name => $ENV{CRCSYNC_MPM} || 'event', modules => "$work/modules", work => $work);
    @vars{@ports} = map { $self->{base_port} + $_ } 1 .. @ports;
    $vars{load_under_test} = '';
    $vars{debug_under_test} = '';
    for my $name (qw(crccache_server crccache_client)) {
        my $file = CRCSync::Work::module($name) or next;
        $vars{load_under_test} .= "LoadModule ${name}_module $file\n";
        $vars{debug_under_test} .= " $name:debug";
    }
    return CRCSync::TestConfig->new({%{$self->{conf_opts}}, %vars});
}

package CRCSync::TestConfig;

use parent 'Apache::TestConfig';

sub parse_vhost { return }

1;

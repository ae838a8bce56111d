# Readers of large bodies: curl, which needs no memory for them, and can be slow.
#
#   my $read = read_body($url, fields => ['If-Block' => ...], rate => '10k', seconds => 600);
#
# gives {status, bytes, exit, sha256 (of what came), fields (the head as text)}. exit is curl's: 0 for a complete body, 28
# where the seconds were over. start_reader gives code that waits for the end and returns the same: several can read at
# once.
package CRCSync::Reader;

use strict;
use warnings;

use Exporter qw(import);
use POSIX ();

use CRCSync::Work;

our @EXPORT_OK = qw(read_body start_reader);

sub read_body { return start_reader(@_)->() }

sub start_reader {
    my ($url, %options) = @_;
    my $dir = CRCSync::Work::new_dir('reader');
    my @curl = ('curl', '--silent', '--dump-header', "$dir/head");
    push @curl, '--write-out', '%{stderr}%{http_code} %{size_download} %{exitcode}';
    push @curl, '--limit-rate', $options{rate} if $options{rate};
    push @curl, '--max-time', $options{seconds} if $options{seconds};
    my @fields = @{$options{fields} // []};
    while (my ($name, $value) = splice @fields, 0, 2) {
        push @curl, '--header', "$name: $value";
    }
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        open STDOUT, '>', "$dir/sha256" or POSIX::_exit(127);
        open STDERR, '>', "$dir/result" or POSIX::_exit(127);
        exec 'sh', '-c', '"$@" | sha256sum', 'sh', @curl, $url or POSIX::_exit(127);
    }
    return sub {
        waitpid $pid, 0;
        my ($status, $bytes, $exit) = split ' ', CRCSync::Work::slurp("$dir/result");
        my ($sha256) = CRCSync::Work::slurp("$dir/sha256") =~ /^([0-9a-f]{64})/;
        my $head = -e "$dir/head" ? CRCSync::Work::slurp("$dir/head") : '';
        return {status => $status, bytes => $bytes, exit => $exit, sha256 => $sha256, fields => $head};
    };
}

1;

# Pages that prove themselves: each holds its URL, its version and the hash of all its bytes, so that a reader knows, alone
# and at once, whether what he got is a page that the origin has sent for that URL. Most of a page stays from one version
# to the next.
#
#   my $origin = CRCSync::Stamped->origin;          # any target, ?size=BYTES; the version grows with each answer
#   my $version = CRCSync::Stamped::version($target, $body);        # 0 if it is no page of that URL, or damaged
package CRCSync::Stamped;

use strict;
use warnings;

use Digest::SHA qw(sha1_hex);

use CRCSync::Origin;
use CRCSync::Pages;

sub page {
    my ($target, $version, $bytes) = @_;
    my $page = CRCSync::Pages::page($target, $version % 50, $bytes);
    my $text = "<!-- $target version $version -->\n$page";
    return $text . '<!-- ' . sha1_hex($text) . " -->\n";
}

sub version {
    my ($target, $body) = @_;
    return 0 unless $body =~ s/<!-- ([0-9a-f]{40}) -->\n\z// && $1 eq sha1_hex($body);
    return $body =~ /\A<!-- (\S+) version (\d+) -->\n/ && $1 eq $target ? $2 : 0;
}

# The version is time itself, in steps of 50 ms: readers at the same moment get the same page.
sub origin {
    my ($class, $bytes) = @_;
    return CRCSync::Origin->start(
        sub {
            my ($request, $connection) = @_;
            my $version = int(Time::HiRes::time() * 20);
            my $body = page($request->{target}, $version, $bytes // 20_000);
            CRCSync::Origin::send_answer($request, $connection, body => $body, fields => ['Content-Type' => 'text/html']);
        }
    );
}

1;

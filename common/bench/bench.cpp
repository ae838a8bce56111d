// Runs the benchmarks and prints, last, how ours compare with the 2009 code: on a shared machine only a ratio within
// one run says anything.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <map>
#include <string>

namespace {

class RatioReporter final : public benchmark::ConsoleReporter {
public:
    void ReportRuns(const std::vector<Run>& runs) override {
        ConsoleReporter::ReportRuns(runs);
        for (const Run& run : runs) {
            if (run.run_type == Run::RT_Iteration && !run.error_occurred)
                times_[run.benchmark_name()] = run.GetAdjustedCPUTime();
        }
    }
    void print_ratios() const {
        const std::string ours = "/ours/";
        for (const auto& [name, time] : times_) {
            const std::size_t at = name.find(ours);
            if (at == std::string::npos) continue;
            std::string old = name;
            const auto yardstick = times_.find(old.replace(at, ours.size(), "/2009/"));
            if (yardstick != times_.end())
                std::printf("%-20s %6.1f times as fast\n", name.c_str(), yardstick->second / time);
        }
    }

private:
    std::map<std::string, double> times_;
};

}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    RatioReporter reporter;
    benchmark::RunSpecifiedBenchmarks(&reporter);
    reporter.print_ratios();
    return 0;
}

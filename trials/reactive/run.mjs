// Runs reactive-framework-test-suite over a shared library of hobgoblin, and prints its results as JSON.
//
//     npm ci --ignore-scripts && node run.mjs ../../target/debug/libhobgoblin.so

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildSync } from "esbuild";
import { framework } from "./adapter.mjs";

/// The suite is published as TypeScript.
async function importSuite() {
    const folder = mkdtempSync(join(tmpdir(), "reactive-"));
    const outfile = join(folder, "suite.mjs");
    try {
        buildSync({ entryPoints: ["reactive-framework-test-suite"], bundle: true, format: "esm", outfile });
        return await import(pathToFileURL(outfile));
    } finally {
        rmSync(folder, { recursive: true });
    }
}

const { testSuite, SkipTest } = await importSuite();
const hobgoblin = framework(...process.argv.slice(2));
const results = [];
for (const { section, cases, type } of testSuite) {
    for (const [name, test] of Object.entries(cases)) {
        const result = { section, name, outcome: "passed" };
        try {
            hobgoblin.run(() => {
                const answer = test(hobgoblin);
                if (type === "behavioral") result.answer = answer;
            });
        } catch (error) {
            result.outcome = error instanceof SkipTest ? "skipped" : "failed";
            result.reason = String(error?.message ?? error);
        }
        results.push(result);
    }
}
console.log(JSON.stringify(results, null, 1));

// Builds the one module that the kernel sends to the browser: ../tfnb/notebook/static/tfnb.js
import { readFileSync, statSync } from "node:fs";
import { build, transformSync } from "esbuild";

const OUT = "../tfnb/notebook/static/tfnb.js";
const MOST_BYTES = 90_000; // the module travels with every displayed view and is saved in its notebook

// Styles are put in by the module (no second file to find), without the blanks that people read them by.
const styles = {
  name: "styles",
  setup: (made) =>
    made.onLoad({ filter: /\.css$/ }, ({ path }) => ({
      contents: transformSync(readFileSync(path, "utf8"), { loader: "css", minify: true }).code,
      loader: "text",
    })),
};

await build({
  entryPoints: ["src/index.ts"],
  outfile: OUT,
  bundle: true,
  format: "esm",
  minify: true,
  charset: "utf8",
  target: "es2022",
  plugins: [styles],
  define: { "define.amd": "false" }, // a page with RequireJS would be asked instead of this module
  logLevel: "warning",
});
const bytes = statSync(OUT).size;
console.log(`${OUT}: ${(bytes / 1000).toFixed(1)} kB`);
if (bytes > MOST_BYTES) throw new Error(`the module has ${bytes} bytes, more than ${MOST_BYTES}`);

// Builds what runs in the browser, into ../tfnb/notebook/static: the module that the kernel sends there (tfnb.js), what
// opens the drawings of saved notebooks (page.js), and the extension of JupyterLab and Notebook 7 (labextensions/), which the wheel puts into share/jupyter/labextensions.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { build, transformSync } from "esbuild";

const OUT = "../tfnb/notebook/static";
const MOST_BYTES = 90_000; // the module travels with every displayed view and is saved in its notebook
const MOST_LAB_BYTES = 30_000; // loaded with each page of JupyterLab
const MOST_PAGE_BYTES = 16_000; // saved with each picture of a notebook
const { version, description, license } = JSON.parse(readFileSync("package.json", "utf8"));

// Styles are put in by the module (no second file to find), without the blanks that people read them by.
const styles = {
  name: "styles",
  setup: (made) =>
    made.onLoad({ filter: /\.css$/ }, ({ path }) => ({
      contents: transformSync(readFileSync(path, "utf8"), { loader: "css", minify: true }).code,
      loader: "text",
    })),
};

/** Bundle a module into one file. Returns its path; throws if it has too many bytes. */
async function bundle(entry, most, options) {
  const made = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    charset: "utf8",
    target: "es2022",
    plugins: [styles],
    define: { "define.amd": "false" }, // a page with RequireJS would be asked instead of this module
    logLevel: "warning",
    metafile: true,
    ...options,
  });
  const [path] = Object.keys(made.metafile.outputs);
  const bytes = statSync(path).size;
  console.log(`${path}: ${(bytes / 1000).toFixed(1)} kB`);
  if (bytes > most) throw new Error(`${path} has ${bytes} bytes, more than ${most}`);
  return path;
}

await bundle("src/index.ts", MOST_BYTES, { outfile: `${OUT}/tfnb.js`, format: "esm" });
const page = { outfile: `${OUT}/page.js`, format: "iife", globalName: "tfnbPage" };
await bundle("page/index.ts", MOST_PAGE_BYTES, page);

const LAB = `${OUT}/labextensions/tfnb`;
rmSync(LAB, { recursive: true, force: true });
mkdirSync(`${LAB}/static`, { recursive: true });
// Browsers keep what they have loaded: another content, another name.
const names = { entryNames: "remoteEntry.[hash]", outdir: `${LAB}/static` };
const entry = basename(await bundle("lab/index.ts", MOST_LAB_BYTES, { ...names, format: "iife" }));
const _build = { load: `static/${entry}`, extension: "./extension" };
const about = { name: "tfnb", version, description, license, jupyterlab: { extension: true, _build } };
writeFileSync(`${LAB}/package.json`, `${JSON.stringify(about, null, 2)}\n`);
const origin = { packageManager: "python", packageName: "tfnb", uninstallInstructions: "pip uninstall tfnb" };
writeFileSync(`${LAB}/install.json`, `${JSON.stringify(origin, null, 2)}\n`);

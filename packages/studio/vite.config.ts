/** Builds the Studio into hashed files that any server can serve at `/`, each of a kilobyte or more also compressed: `.br` and `.gz`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig, type Plugin } from 'vite'

const leastBytes = 1_024

/** Compresses once, and as far as it goes, what a server would otherwise compress for each visitor. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    // As it was written: what other plugins change at the end is in it too.
    writeBundle({ dir = '' }, bundle) {
      for (const name of Object.keys(bundle)) {
        const source = readFileSync(join(dir, name))
        if (source.length < leastBytes) continue
        writeFileSync(join(dir, `${name}.br`), brotliCompressSync(source))
        writeFileSync(join(dir, `${name}.gz`), gzipSync(source, { level: 9 }))
      }
    },
  }
}

export default defineConfig({
  base: '/',
  plugins: [react(), tailwindcss(), compressed()],
  resolve: { conditions: ['witan-source', ...defaultClientConditions] },
  build: {
    outDir: 'dist/app',
    emptyOutDir: true,
    target: 'es2023',
    // A preload helper would only matter for browsers that cannot preload modules.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
  server: { proxy: { '/api': 'http://127.0.0.1:4747' } },
})

/** A configuration that can be read again: its own modules are loaded afresh each time, and watched. */
import { type FSWatcher, watch } from 'node:fs'
import { registerHooks } from 'node:module'
import { basename, dirname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** The modules of one configuration. */
export interface ProjectModules {
  /** From now on every module of the configuration is loaded again. */
  renew(): void
  /** Calls `changed` a moment after any of its files was written. Watches what has been loaded by now. */
  watch(changed: () => void): { close(): void }
  close(): void
}

const settleMs = 120
const mark = 'reload'

/**
 * Follows the relative imports that start at `file`. Packages, Witan's own among them, are loaded once and stay: only what
 * somebody edits beside the configuration is read again.
 */
export function createProjectModules(file: string): ProjectModules {
  const entry = pathToFileURL(file).href
  const files = new Set([file])
  let generation = 0
  const hooks = registerHooks({
    resolve: (specifier, context, next) => {
      const found = next(specifier, context)
      const isEntry = withoutQuery(found.url) === entry
      const isImport = /^\.{0,2}\//.test(specifier) && marked(context.parentURL)
      if (!found.url.startsWith('file:') || !(isEntry || isImport)) return found
      files.add(fileURLToPath(withoutQuery(found.url)))
      const url = new URL(found.url)
      url.searchParams.set(mark, String(generation))
      return { ...found, url: url.href }
    },
  })
  return {
    renew: () => {
      generation += 1
    },
    watch: (changed) => watchFiles(files, changed),
    close: () => hooks.deregister(),
  }
}

/** Folders are watched rather than files: an editor may put a new file in the place of the old one. */
function watchFiles(files: ReadonlySet<string>, changed: () => void): { close(): void } {
  let timer: NodeJS.Timeout | undefined
  const folders = Map.groupBy(files, (file) => dirname(file))
  const watchers = [...folders].map(([folder, inside]): FSWatcher => {
    const names = new Set(inside.map((file) => basename(file)))
    const watcher = watch(folder, (_, name) => {
      if (name === null || !names.has(name)) return
      clearTimeout(timer)
      timer = setTimeout(changed, settleMs)
    })
    // A folder that goes away is no reason to stop serving.
    watcher.on('error', () => watcher.close())
    return watcher
  })
  return {
    close: () => {
      clearTimeout(timer)
      for (const watcher of watchers) watcher.close()
    },
  }
}

function withoutQuery(url: string): string {
  return url.split(/[?#]/, 1)[0] ?? url
}

function marked(url: string | undefined): boolean {
  return url !== undefined && URL.canParse(url) && new URL(url).searchParams.has(mark)
}

import chromium from '@sparticuz/chromium';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium as driver, type Browser } from 'playwright-core';

/**
 * The packaged browser, unpacked into the temporary folder. It needs a few libraries that most machines have;
 * where they are missing it is started once more with those that came in the same package, so that nothing
 * has to be installed.
 */
export async function launch(): Promise<Browser> {
  const args = ['--no-zygote', '--disable-gpu', '--font-render-hinting=none']; // its own list switches the web's security off, which is half of what is tested here
  const fonts: Record<string, string> = existsSync('/etc/fonts/fonts.conf')
    ? {}
    : { FONTCONFIG_PATH: join(tmpdir(), 'fonts') };
  const start = (executablePath: string, env: Record<string, string>): Promise<Browser> =>
    driver.launch({
      executablePath,
      args,
      headless: true,
      env: { ...(process.env as Record<string, string>), ...fonts, ...env },
    });
  try {
    return await start(await chromium.executablePath(), {});
  } catch (error) {
    if (!/error while loading shared libraries/.test(String(error))) throw error;
    return start(await unpackWithLibraries(), { LD_LIBRARY_PATH: libraries });
  }
}

const libraries = join(tmpdir(), 'al2023', 'lib');

/**
 * The package unpacks its libraries where it believes to be on the machines that they were made for, and only
 * together with the browser.
 */
async function unpackWithLibraries(): Promise<string> {
  if (existsSync(libraries)) return chromium.executablePath();
  await rm(join(tmpdir(), 'chromium'), { force: true });
  process.env[machine] = 'nodejs20.x';
  try {
    return await chromium.executablePath();
  } finally {
    delete process.env[machine];
  }
}

const machine = 'AWS_LAMBDA_JS_RUNTIME';

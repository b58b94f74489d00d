"""Chromium without a window, driven by its DevTools protocol over two pipes. Python standard library only."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

FLAGS = ('--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking '
         '--disable-component-update --disable-sync --disable-extensions --disable-dev-shm-usage '
         '--disable-features=IsolateSandboxedIframes --remote-debugging-pipe').split()
PATIENCE_S = 300  # for what comes at once unless the machine is busy: a picture waits for all else


class Chromium:
    def __init__(self, program):
        self.home = tempfile.mkdtemp(prefix='throng-browser-')
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        environment = dict(os.environ, HOME=self.home)
        # Chromium reads from 3 and writes to 4.
        self.process = subprocess.Popen(
            ['sh', '-c', f'exec 3<&{commands} 4>&{answers}; exec "$@"', 'sh', program, *FLAGS,
             f'--user-data-dir={self.home}/profile'],
            env=environment, pass_fds=(commands, answers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.buffer, self.last, self.events = b'', 0, []

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def receive(self):
        while b'\0' not in self.buffer:
            piece = os.read(self.answers, 1 << 20)
            if not piece:
                raise AssertionError('Chromium has ended')
            self.buffer += piece
        text, _, self.buffer = self.buffer.partition(b'\0')
        return json.loads(text)

    def command(self, method, session=None, **parameters):
        self.last += 1
        message = {'id': self.last, 'method': method, 'params': parameters}
        if session:
            message['sessionId'] = session
        os.write(self.commands, json.dumps(message).encode() + b'\0')
        while True:
            answer = self.receive()
            if answer.get('id') == self.last:
                if 'error' in answer:
                    raise AssertionError(f'{method}: {answer["error"]["message"]}')
                return answer['result']
            self.events.append(answer)


class Page:
    """A tab. expected: part of errors that belong to the test."""

    def __init__(self, browser):
        self.browser, self.expected = browser, None
        target = browser.command('Target.createTarget', url='about:blank')['targetId']
        self.session = browser.command('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'DOM'):
            self.command(f'{domain}.enable')

    def look(self, width, dark):
        """What it is shown with, also while it is open."""
        self.command('Emulation.setDeviceMetricsOverride', width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.command('Emulation.setEmulatedMedia',
                     features=[{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}])

    def command(self, method, **parameters):
        return self.browser.command(method, self.session, **parameters)

    def open(self, url, expected=None):
        self.command('Page.navigate', url='about:blank')
        self.until('document.readyState === "complete" && location.href === "about:blank"', 'nothing is loaded')
        self.browser.events.clear()
        self.expected = expected
        self.command('Page.navigate', url=url)
        self.until('document.readyState === "complete" && location.href !== "about:blank"', f'{url} is loaded')
        if self.errors():
            raise AssertionError(f'{url}: the console says {self.errors()}')

    def value(self, expression, in_frame=False):
        """in_frame: in the frame of the page, beside its own scripts."""
        where = {}
        if in_frame:
            frame = self.command('Page.getFrameTree')['frameTree']['childFrames'][0]['frame']['id']
            where['contextId'] = self.command('Page.createIsolatedWorld', frameId=frame)['executionContextId']
        result = self.command('Runtime.evaluate', expression=expression, returnByValue=True, awaitPromise=True, **where)
        if 'exceptionDetails' in result:
            raise AssertionError(f'{expression}: {said_by(result["exceptionDetails"])}')
        return result['result'].get('value')

    def until(self, expression, what, in_frame=False):
        """Waits until the expression is true, and returns it."""
        end = time.monotonic() + PATIENCE_S
        while not (value := self.value(expression, in_frame)):
            if time.monotonic() > end:
                raise AssertionError(f'not so: {what}; the console says: {self.errors() or "nothing"}')
            time.sleep(0.05)
        return value

    def press(self, key, text=''):
        code = {'Tab': 9, 'Enter': 13, 'Backspace': 8}.get(key, 0)
        for kind in ('keyDown', 'keyUp'):
            self.command('Input.dispatchKeyEvent', type=kind, key=key, windowsVirtualKeyCode=code,
                         **({'text': text} if text and kind == 'keyDown' else {}))

    def errors(self):
        """What the console has as errors, of scripts that do not parse, too; without those that are expected."""
        self.command('Runtime.evaluate', expression='0')  # what was said before has come by then
        found = []
        for event in self.browser.events:
            if event.get('sessionId') != self.session:
                continue
            details = event['params']
            if event['method'] == 'Runtime.exceptionThrown':
                found.append(said_by(details['exceptionDetails']))
            elif event['method'] == 'Log.entryAdded' and details['entry']['level'] == 'error':
                found.append(f'{details["entry"]["text"]} {details["entry"].get("url", "")}')
            elif event['method'] == 'Runtime.consoleAPICalled' and details['type'] in ('error', 'assert'):
                found.append(' '.join(str(a.get('value')) for a in details['args']))
        return [text for text in found if not self.expected or self.expected not in text]

    def picture(self, path):
        size = self.command('Page.getLayoutMetrics')['cssContentSize']
        shot = self.command('Page.captureScreenshot', captureBeyondViewport=True,
                            clip={'x': 0, 'y': 0, 'width': size['width'], 'height': size['height'], 'scale': 1})
        with open(path, 'wb') as file:
            file.write(base64.b64decode(shot['data']))


def said_by(details):
    return f'{details.get("exception", {}).get("description", details["text"])}, line {details["lineNumber"] + 1}'

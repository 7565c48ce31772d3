//! A real browser, driven as a person would (`chromedriver`, W3C WebDriver), and what is wrong with a page in it for
//! people who read, see or type otherwise.

use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

/// What a test with a [`Browser`] lacks here.
#[must_use]
pub fn lacks() -> Option<String> {
    crate::lacks::program("chromedriver").or_else(|| crate::lacks::program("chromium"))
}

/// A browser without a window; it ends with this.
#[derive(Debug)]
pub struct Browser {
    driver: Child,
    agent: ureq::Agent,
    session: String,
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Without a session it has ended; the driver may be gone too.
        let _ = self.agent.delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

const AUDIT: &str = include_str!("audit.js");
/// Times Tab is pressed at most.
const STOPS: u64 = 300;
/// A large screen and a small one.
const WIDTHS: [u32; 2] = [1280, 360];
const TAB: char = '\u{e004}';

impl Browser {
    /// # Panics
    /// Where it does not start: a test asks [`lacks`] before.
    #[must_use]
    pub fn start() -> Browser {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let out = BufReader::new(driver.stdout.take().expect("its output"));
        let port = out.lines().map_while(Result::ok).find_map(|line| {
            let behind = line.split_once("successfully on port ")?.1;
            behind.trim_end_matches('.').parse::<u16>().ok()
        });
        let port = port.expect("it says its port");
        let config = ureq::Agent::config_builder().http_status_as_error(false).build();
        let base = format!("http://127.0.0.1:{port}/session");
        let mut browser = Browser { driver, agent: config.into(), session: base };
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
        ];
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": { "args": arguments },
        } } });
        let session = browser.ask("", &wanted);
        browser.session += &format!("/{}", session["sessionId"].as_str().expect("a session"));
        browser
    }

    fn ask(&self, command: &str, body: &Value) -> Value {
        let mut answer = self
            .agent
            .post(format!("{}{command}", self.session))
            .send_json(body)
            .expect("it answers");
        let said: Value = answer.body_mut().read_json().expect("JSON");
        assert!(answer.status().is_success(), "{command}: {}", said["value"]["message"]);
        said["value"].clone()
    }

    /// Of Chromium's own protocol.
    fn tool(&self, command: &str, parameters: &Value) -> Value {
        self.ask("/goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    /// Open an address.
    ///
    /// # Panics
    /// Where it cannot be opened, as all below where the browser refuses.
    pub fn go(&self, address: &str) {
        self.ask("/url", &json!({ "url": address }));
    }

    /// What a script's body returns.
    pub fn run(&self, script: &str) -> Value {
        self.ask("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Wait until a script's body returns true.
    pub fn until(&self, script: &str) {
        let waiting = format!(
            "const done = arguments[0], look = () => (() => {{ {script} }})() ? done() : setTimeout(look, 20); look();"
        );
        self.ask("/execute/async", &json!({ "script": waiting, "args": [] }));
    }

    /// Press keys, one after the other.
    pub fn keys(&self, keys: &str) {
        let press = |key: char| {
            let key = key.to_string();
            [json!({ "type": "keyDown", "value": key }), json!({ "type": "keyUp", "value": key })]
        };
        let actions: Vec<Value> = keys.chars().flat_map(press).collect();
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": actions });
        self.ask("/actions", &json!({ "actions": [keyboard] }));
    }

    /// How wide the screen is.
    pub fn width(&self, pixels: u32) {
        let screen =
            json!({ "width": pixels, "height": 800, "deviceScaleFactor": 1, "mobile": false });
        self.tool("Emulation.setDeviceMetricsOverride", &screen);
    }

    /// Whether its user wants dark pages.
    pub fn dark(&self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let feature = json!({ "name": "prefers-color-scheme", "value": value });
        self.tool("Emulation.setEmulatedMedia", &json!({ "features": [feature] }));
    }

    /// What is wrong with the page that is open, in light and dark, on a large and a small screen: names of controls,
    /// contrast of text (4.5), language, title, viewport, order of headings, what does not fit, what a keyboard does not
    /// reach, and where its focus is not seen.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for dark in [false, true] {
            for width in WIDTHS {
                self.dark(dark);
                self.width(width);
                let scheme = if dark { "dark" } else { "light" };
                let found = self.run(&format!("{AUDIT}\nreturn audit();"));
                let found = found.as_array().into_iter().flatten().filter_map(Value::as_str);
                faults.extend(found.map(|fault| format!("{scheme}, {width} px: {fault}")));
            }
        }
        self.dark(false);
        self.width(WIDTHS[0]);
        faults.extend(self.nameless());
        faults.extend(self.unreached());
        faults
    }

    /// What can be used or looked at and has no name, as the browser tells it to a screen reader.
    fn nameless(&self) -> Vec<String> {
        let tree = self.tool("Accessibility.getFullAXTree", &json!({}));
        let nodes = tree["nodes"].as_array().into_iter().flatten();
        let wanting = nodes.filter(|node| {
            let role = node["role"]["value"].as_str().unwrap_or_default();
            let properties = node["properties"].as_array().into_iter().flatten();
            let is_used = properties
                .filter(|one| one["name"] == "focusable")
                .any(|one| one["value"]["value"] == true);
            let name = node["name"]["value"].as_str().unwrap_or_default();
            node["ignored"] == false
                && (is_used && role != "RootWebArea" || role == "image" || role == "dialog")
                && name.trim().is_empty()
        });
        wanting
            .map(|node| format!("no name: {} {}", node["role"]["value"], node["properties"]))
            .collect()
    }

    /// What Tab does not come to, and where it is not seen that it came.
    fn unreached(&self) -> Vec<String> {
        let count = self.run(&format!("{AUDIT}\nreturn mark();")).as_u64().expect("a count");
        let mut faults = Vec::new();
        for _ in 0..count.min(STOPS) {
            self.keys(&TAB.to_string());
            let fault = self.run(&format!("{AUDIT}\nreturn stop();"));
            faults.extend(fault.as_str().map(str::to_owned));
        }
        if count <= STOPS {
            let left = self.run(&format!("{AUDIT}\nreturn left();"));
            faults.extend(left.as_array().into_iter().flatten().map(Value::to_string));
        }
        faults
    }
}

"""The words by which answers decline, sorted into classes that mean the same in English and Chinese.

Why classes and no phrases: "the guide never touches on …" and "手册未涉及…" are one pattern (document, not, say), so
a new wording is a word in its class here, never a new rule. A trailing * stands for any ending, _ for a space; of
words that overlap the longest counts. After a change run `scripts/train_refusal.py`.
"""

WORDS: dict[str, str] = {
    # Who speaks, to whom, of whom.
    "self": """
        i i'm me my myself 俺 咱 在下 小助手 小的 小编 我 我个人 我手 我手上 我手里 我这 我这儿 我这边 我这里 本人
        本助手 本客服 本机器人 本系统 笔者 鄙人
    """,
    "we": "our ours ourselves us we 咱们 我们 我司 我方 本中心 本公司 本平台 本店 本所 本行 本部门 本院",
    "you": "you your yours yourself 亲 亲爱的 你 你们 您 贵司 贵方 阁下",
    "third": """
        applicant applicants authorities board chairman chairwoman clerk* client* committee company consumer*
        council court crew critics customer* defendant* director directors doctor* driver* employee* employer*
        engineers everybody everyone expert* firm* government guest* guests he her him his historian* inspector*
        judge* jury king landlord* lawyer* manager managers mayor member members minister minister* nurse* official*
        owner* parent* parents participant* passenger* patient* people pharmacist* player* police police* president
        prisoner* pupil* researcher* resident residents scholar* scientist* she someone spokes* staff student*
        supplier* suspect* teacher* team tenant* tourist* user users victim* visitor* voter* witness* women worker*
        一些人 丈夫 专家 两人 主席 主教 乘务员 乘客 人们 他 他们 他本人 任何人 会员 传教士 使用者 供应商 候选人
        借款人 债权人 儿子 儿童 兄弟 公众 公司 公安 军方 凶手 出租人 医生 厂商 厂家 历史学家 原告 双亲 双方 发言人
        司机 员工 团队 国王 士兵 外包人员 外界 女儿 女王 她 她们 她本人 妻子 委员会 学员 学生 学者 孩子 它 它们 客人
        客户 客服 家属 家庭 家长 居民 工作人员 市长 店员 当事人 当局 律师 总统 患者 房东 承包商 承租人 投保人 护士
        持卡人 接线员 政府 教师 教练 旅客 未成年人 村民 来访者 校方 校长 检察官 检查人员 检查员 此人 母亲 法官 法庭
        法院 消费者 演员 父亲 父母 物业 犯人 狱警 球员 用户 申请人 病人 监管机构 目击者 研究人员 研究者 科学家
        科研人员 租客 租户 经办人 经理 老师 考生 职员 股东 董事 董事会 被告 观众 警方 订户 记者 访客 评委 评委会
        该公司 读者 调查人员 质检员 部长 银行 雇主 雇员 顾客 顾问 驾驶员
    """,
    "nobody": "no_one nobody none_of_them none_of_us not_anyone 无一人 无人 没人 没有人 没有谁 谁也没 谁都没",
    "assistant": """
        ai assistant bot chat_assistant chatbot digital_assistant helper language_model language_models
        system_prompt virtual 人工智能 助手 大模型 客服助手 小机器人 智能客服 机器人 语言模型 语音助手
    """,
    "device": """
        APP app application_form apps camera car cars computer* device* driver_software engine laptop* lift machine*
        model_number motor plane printer* program programme_runs programs pump pumps router* scanner* sensor*
        server* ship software system systems tool tools train trains truck tv vehicle* virus websites_cookies 仪器
        传感器 列车 发动机 应用 手机 打印机 扫描程序 控制器 服务器 本品 机器 水泵 汽车 电梯 电脑 病毒 程序 系统 船只
        装置 设备 账号 路由器 车辆 软件 飞机 驱动
    """,
    "pronoun": "it its itself their them themselves they",
    # The material at hand, what it could hold, and what was asked.
    "document": """
        abstract abstracts agenda almanac annex annexes announcement announcements appendices appendix archive
        article* attachment attachments author ballot_paper biography book books briefing briefings brochure*
        brochure_text bulletin bulletins byelaws caption captions case_file catalog* chapter* chart charter charts
        chronicle chronicles circular circulars collection column columns context* correspondence court_file
        curriculum customer_guide database* datasheet* diagram diagrams diaries diary dictionaries dictionary
        directory dispatch docs document* documentation dossier email emails employee_guide employee_guides
        employee_handbook encyclopedia entries entry essay excerpt* factsheet faq faqs feed figure_caption folder
        footnote footnotes gazette glossary graph graphs guidance guide guideline* guides handbook* handout handouts
        headnote help_center help_centre house_regulations house_rules instructions interview interviews inventory
        invoice invoices itinerary journal journals judgement judgment leaflet* ledger letter letters library
        listings log logbook logs magazine mail_thread manual* members'_handbook memo* memoir memoirs memorandum
        message messages minutes newsletter newsletters newspaper newspapers notes novel novels owner's_manual page
        pages paper papers paperwork paragraph* participant_guide passage* patient_guide patient_leaflet pdf pdfs
        playbook poem portal poster presentation press_release* price_list printout programme prospectus
        prospectuses protocol protocols readme recordings records register registers registry regulations
        release_notes report reported reporting reports repository review reviews roster rota rulebook rulebooks
        runbook scan scans schedule schedules screenshot screenshots script scripture section sections series sheet
        sheets site slides specification* speech speeches spreadsheet spreadsheets staff_guide staff_handbook story
        stub student_handbook studies study submission summary survey syllabus system_shows table tables template
        textbook textbooks thread threads ticket_history tickets timeline timetable tome transcript* transcriptions
        treatise treatises upload uploads user_guide user_guides user_manual user_manuals visitor_guide volume
        volumes web_page webpage webpages website* wiki* wording write-up 一栏 上文 书中 书稿 书里 事故报告 价格表
        价目表 会议记录 传单 传记 体检报告 作者 使用手册 信 信件 信里 修订版 倡议书 全书 公司制度 公告 公报 公文
        公示 其中 内容介绍 册子 几页 凭证 出院小结 判决 判决书 制度汇编 前文 剧本 剪报 单据 单页 卡片 卷 卷中 卷宗
        原件 原材料 原稿 原著 发票 发言稿 发言记录 台词 史书 史料 名册 名单 后文 员工守则 员工手册 员工指南 回忆录
        图 图册 图注 图片 图示 图纸 图表 在线文档 地图 培训材料 声明 备忘录 备案 备注 大纲 字段 学习资料 学术论文
        学生手册 官网 客户须知 宣传册 宣传单 家书 导则 小册子 小结 小节 小说 就诊须知 工作手册 工作日志 工单 帖子
        帮助中心 帮助页 常见问题 年报 年鉴 序言 底稿 引文 影像 影片 往来邮件 微博 总结 患者手册 房源介绍 手册 手稿
        手记 扫描件 批复 抄本 投保单 折页 报告 报纸 报表 报道 招标书 招股书 指令 指南 指引 提纲 提要 摘要 操作手册
        政策库 政策文件 教材 数据表 数据集 文件夹 文案 文献库 文稿 新闻 新闻稿 方案 日志 日程 日程表 日记 时刻表
        时间表 时间轴 明细 有关文件 条幅 来信 来函 样本 样章 案例库 案卷 档案 档案馆 残卷 残片 汇编 注解 注释 流程图
        海报 清单 演讲 演讲稿 物料 环评报告 用户手册 用户指南 申报表 电子表格 电影 登记册 白皮书 白纸黑字 百科 目录
        目次 短信 碑文 示意图 票据 科普文章 稿件 稿子 章节 笔记 答疑库 简介 系统上 系统中 系统内 系统内部 系统里
        索引 纪要 经书 结果 维基 编者按 网页 自传 节目 节目单 草案 行程单 表 表中 表单 表格 规范 视频 议程 记录
        记录中 记录里 讲义 讲稿 讲话稿 论文 访谈 访谈录 评论文章 词典 词条 译文 诗 详情页 说明书 说明文档 课文 课本
        课程表 账单 账本 资费表 这封信 通告 通报 通知 通知书 邮件 邮件往来 采访 里面 铭文 问答 问答库 问答集 附件
        附图 附录 附注 附表 页 页面 项目书 须知 频道 题库
    """,
    "context": """
        bundle chunk* context corpus dataset datasets document documents documents_provided excerpt excerpts extract
        extracts file files fragment fragments index indexes knowledge_base knowledgebase lookup material materials
        my_search paragraph paragraphs passage passages query_results result results search search_results snippet*
        source source_material sources text texts training_data your_question 一段 三段 上下文 两段 全文 内文 几段
        原始材料 原文 参考 各段 库中 库里 所附文件 搜出来 搜索结果 摘录 数据库 文中 文件 文件包 文字 文本 文档 文献
        文章 本文 材料 来源 查询结果 检索 检索结果 正文 正本 此段 段 段文字 段落 段话 每段 片断 片段 知识库 篇章
        背景 脚注 节选 若干段落 词汇表 该段 语料 语料库 资料 资料包 资料库 这几段 这段 题 题干 题目 题目所给
    """,
    "binding": """
        agreement* by-law* bylaw bylaws clause clauses code_of_conduct constitution contract* convention* covenant*
        deed deeds directive directives insurance law laws lease leases legislation licence* license* ordinance
        ordinances plan policies policy provision regulation* rule rules statute statutes tariff tariffs tenancy
        terms terms_and_conditions the_act the_will treaties treaty warranties warranty 保修 保单 保险 公约 决议
        制度 办法 协定 协议 合同 套餐 守则 宪法 总则 执行细则 政策 条例 条文 条款 条约 法令 法典 法律 法条 法规 租约
        租赁合同 章程 细则 规则 规定上 规程 规章 规约 遗嘱 销售合同
    """,
    "given": """
        above accessible at_hand at_my_disposal at_my_end attached available available_to_me before_me existing
        given handed in_front_of_me included_here loaded made_available on_hand pasted presented presented_here
        provided quoted_here read_so_far received reproduced retrieved returned seen sent shared shown submitted
        supplied to_hand uploaded 上传 上传的 上述 以上 传来 加载 加载的 发来 召回 召回的 可用 已有 引的 录入的
        您提供 您给 我所见 我读到的 所列 所引 所掌握 所知 所给 所见 所附 手上 手头 手边 手里 拿到 拿到的 据我所知
        据我所见 掌握 接入 接入的 提供的 收到的 现有 目前 眼下 眼前 给出的 给到 给定 给我的 给的 读到的 贴 贴的 返回
        返回的 附上的 附的 面前
    """,
    "topic": """
        about aspect case concern concerning enquiry inquiry issue item matter matters on particular pertaining
        point points queries query question question's questions regard regarding related relating relevant request
        respect situation sort subject subjects such that theme these thing things this this_one those topic
        what_you_ask which 专题 主题 事宜 事情 事项 关于 具体问题 内容 内容上 咨询的 对应 对此 您所问 您要的 您问
        情况下 情形 所询 所问 提问 提问的 方面 有关 有关于 本题 此 此事 此点 此类 此问题 此项 疑问 相关 至于 至于说
        诉求 话题 该 该主题 该信息 该内容 该问题 该项 该题 请求 这 这一块 这一点 这一问 这一项 这个 这事 这事儿 这些
        这件事 这方面 这条 这点 这类 这道 这道题 这项 这题 那个 那件事 问题 需求
    """,
    "info": """
        account accounts answerable_basis anything article_covering background basis clarity clue clues conclusion
        conclusions confirmation content coverage data description descriptions details entry_for evidence
        explanation* explanations fact facts figure figures guidance_on guideline_on hint hints hit hits indication*
        indications info information inkling insight* insights justification knowledge match matches
        matching_article mention_of mentions particulars pointer pointers proof provisions reason reasons record_of
        reference references regulation_on rows section_on something specifics statement* statistics stats support
        supporting traces value values verdict word words 下文 专业知识 事实 交代的 佐证 依据 信息 內容 具体 内幕
        凭据 出处 动静 匹配 匹配项 只言片语 可靠来源 命中 基础 头绪 字样 字眼 定义 定论 实据 底细 情况 把握 描述
        支撑 数 数值 数字 数据 数目 有关内容 条目 来龙去脉 消息 理由 相关性 眉目 知识 确切消息 答案线索 线头 线索
        细节 结论 蛛丝 蛛丝马迹 解释 讯息 论据 证据 证明 说法 资格 资讯 踪影 踪迹 迹象
    """,
    "enough": """
        additional adequate ample anywhere_near conclusive definitive enough firm further insufficiently more
        reliable solid sufficient 充分 充足 可靠 够 完整 明确的 更多 权威 确凿 确定性 详尽 详细 足 足够 进一步
    """,
    "wh": """
        how what whatever when when_exactly where whether which_of whichever who whom whose why why_exactly 为什么
        为何 为啥 什么 会不会 何人 何地 何处 何时 何种 几 几时 几点 到底 原因 可不可以 哪 哪一 哪个 哪位 哪儿 哪天
        哪家 哪年 哪款 哪里 啥 多久 多大 多少 多长 多高 如何 怎么 怎么样 怎样 是不是 是否 有没有 究竟 缘由 能不能
        要不要 谁
    """,
    # Negation, and words that have it inside.
    "not": """
        ain't barely cannot cant didnt doesnt dont hardly isnt n't neither_does never nope not rarely scarcely wasnt
        without_ever wont 一个字也没 一个字没 一个字都没 一句也没 一句没 一字未 一字没 一概不 一直没 一直没有 不
        不太 不曾 也不 也未 也没 也没有 亦未 仍未 仍没有 从未 从来没 从来没有 从没 从没有过 倒没 倒没有 全没 却未
        却没 却没有 压根没 又没 均不 均未 均没有 始终未 始终没 始终没有 完全没 完全没有 尚不 尚无 尚未 尚没有 并不
        并不会 并无 并未 并没 并没有 并没能 并非 是否未 暂不 暂无 暂未 暂没 未 未予 未作 未做 未加 未必 未提 未曾
        未曾有 未有 未答 未经 未能 未获 未见 根本没 根本没有 概不 毫无 没 没再 没得 没怎么 没有 没给 没能 皆未
        至今未 至今没有 还没 还没有 都不 都未 都没 都没有
    """,
    "none": """
        hardly_any in_vain neither no no_such none none_at_all nor not_a_single not_a_word not_any not_one
        not_the_slightest nothing nowhere to_no_avail without without_success zero 一无所 一无所获 一项都没有
        什么也没 什么也没有 什么都没 什么都没有 任何 半点没有 哪儿都没有 哪里都没有 无一 无任何 查无 查无此 毫无收获
        没一句 没一处 没一条 没一点 没什么 没半点 没哪 没收获 没有一 没有一句 没有一处 没有一条 没有任何 没有半点
        没有哪 没有哪一 没有收获 零 零结果
    """,
    "lack": """
        absent ambiguous anonymous avoid avoids blacked_out blank blanks blurred blurry breaks_off broken_off
        bypass* corrupted cursory cut_off cut_short cuts_off damaged deficient disagree disregard* dodge* empty
        evade* evasive fail failed fails fragmentary gap gaps garbled gloss* hazy ignores illegible imprecise
        inadequate incomplete inconclusive insufficient lack lacking lacks leave leaves leaves_it leaves_out
        leaves_the_question leaves_us leaving left_blank left_open left_out left_unsaid left_us limited meagre
        missed missing mum murky mute neglect* omit omits omitted opaque overlook* pass_over passes_over patchy
        quiet redacted reticent scant scanty scarce short_of short_on shy_away sidestep* silence silent silent_on
        sketchy skim* skip* skirt* sparse sparsely thin thin_on tight-lipped too_brief too_general too_little
        too_narrow too_short too_sparse too_thin too_vague torn_off truncated unaddressed unanswerably unclear_on
        unexplained unhelpful unreadable unsaid unspoken vague vaguely void withheld withhold* 一声不吭 一带而过
        一片空白 一笔带过 不全 不全面 不够 不够具体 不够明确 不够清楚 不完整 不明确 不足 不齐 丢失 中断 为空 从略
        付之阙如 几乎没 删去 删掉 到此为止 匮乏 单薄 只字不提 只字不谈 只字未提 含混 含糊 含糊其辞 回避 太宽泛 太少
        太模糊 太泛 太短 太笼统 太简略 太粗略 宽泛 少得可怜 就没了 戛然而止 截断 打不开 打断 损坏 撕掉 断了 断档 无
        无内容 无存 暂缺 有限 未尽 未详 模棱两可 模糊 欠缺 残损 残破 残缺 没下文 没头没尾 没有下文 涂黑 漏 漏了 漏掉
        漏记 片面 界定不清 略去 略去不提 略而不谈 略过 省略 看不清 破损 空无一物 空白 空的 空空如也 空缺 笼统 简略
        粗略 绕开 绕过 缄口 缄默 缺 缺一 缺乏 缺了 缺位 缺失 缺少 缺损 缺的 缺省 缺这 缺页 表述不清 被删 认不清
        讳莫如深 语意不明 语焉不详 跳过 过少 遗失 遗漏 遮住 避开 避而不答 避谈 避重就轻 闭口不提 闭口不谈 隐去 零散
        零碎
    """,
    "conflict": """
        conflict* conflicting contradict* contradictory differ disagree* inconsistent 不一致 互相打架 互相矛盾 出入
        分歧 前后不一 前后不一致 各执一词 打架 相互矛盾 自相矛盾 说法不一
    """,
    "unknown": """
        hard_to_say hard_to_tell indefinite indeterminate inscrutable n/a na obscure open_question unaccounted
        unanswerable unanswered unascertain* unavailable unclear unconfirmed undecided undefined undeterminable
        undetermined undisclosed undocumented unestablished unexplored unguessable unidentifiable unidentified
        unknowable unknown unlisted unmentioned unnamed unproven unrecorded unreported unresolved unrevealed
        unsettled unsolved unspecified unstated unsure_of untold unverif* unverified up_in_the_air 不可得 不可知
        不可考 不好讲 不明 不明朗 不甚明了 不知 不详 存疑 尚不清楚 尚无定论 尚未可知 待定 待查 待核 待考 很难说
        悬而未决 成谜 无定论 无据可依 无据可查 无案可稽 无法判断 无考 无解 无记载 未交代 未写明 未列明 未可知 未定
        未指明 未提供 未提到 未提及 未揭晓 未明 未明确 未标明 未注明 未涉及 未涵盖 未知 未规定 未记载 未详述 未说明
        未载明 查无实据 没个准 没有定论 难说
    """,
    "cannot": """
        abstain can_hardly can_neither can_no_longer can_not can_not_be can_scarcely could_hardly could_not decline
        declines declining hesitant hesitate ill-equipped impossible incapable lack_the_authority no_authority
        no_can_do no_clearance no_permission no_way not_able not_allowed not_at_liberty not_authorised
        not_authorized not_cleared not_designed not_entitled_to not_equipped not_free_to not_going_to
        not_in_a_position not_in_my_power not_meant not_permitted_to not_possible not_prepared_to not_programmed
        not_qualified not_set_up not_trained not_up_to not_want_to out_of_the_question powerless prefer_not
        rather_not refrain refuse reluctant struggle* unable unable_to unequipped unwilling will_not_be_able won't
        would_not_want 不予 不予回答 不予答复 不予置评 不会回答 不作 不作回答 不作答 不作解答 不作评价 不作评论 不便
        不做 不具备 不参与 不受理 不可能 不回答 不在行 不好乱讲 不好回答 不好说明 不好透露 不宜 不宜评论 不展开 不归
        不得不放弃 不愿 不提供 不支持回答 不敢 不敢妄言 不敢说 不方便 不方便说 不由我 不给 不肯 不能 不能够 不被允许
        不该 不负责 做不了主 做不到 做不来 力不从心 力不能及 力有不逮 办不到 办不成 名额外 婉拒 帮不到 干不了
        开不了口 很难 心有余而力不足 恕 恕不 恕难 恕难从命 拒答 拒绝 无力 无可奉告 无权 无权限 无法 无法再 无法满足
        无能为力 未开通 未授权 未获授权 束手无策 没办法 没有权力 没有权限 没有能力 没有资格 没本事 没权限 没法
        没法子 没能力 没资格 爱莫能助 说了不算 谢绝 难以 难以作答 难倒
    """,
    "not_know": """
        confused forget forgot ignorant no_recollection none_too_sure not_aware not_certain not_clear_to_me
        not_entirely_sure not_familiar not_informed not_quite_sure not_sure not_too_sure not_versed unacquainted
        unaware uncertain unfamiliar unsure 一问三不知 不了解 不会答 不太了解 不太懂 不太清楚 不太熟悉 不太知道
        不太确定 不好说 不得而知 不得要领 不懂 不掌握 不摸底 不敢确定 不明就里 不明白 不晓得 不清楚 不熟 不熟悉
        不甚了解 不甚清楚 不知道 不确定 不认识 不记得 不详知 不通 也不清楚 判断不了 判断不出 吃不准 回答不了 外行
        孤陋寡闻 帮不上 帮不了 弃权 得不出 才疏学浅 找不到 找不着 拿不准 推不出 推断不出 搜不到 搜索不到 搞不懂 无从
        无从下手 无从了解 无从作答 无从判断 无从回答 无从得知 无从推断 无从查证 无从查起 无从核实 无从知晓 无从知道
        无从确认 无从考证 无从说起 无法可知 未及 未发现 未命中 未找到 未有耳闻 未查到 未查明 未查证 未查询到
        未检索到 未知数 未能找到 未能查明 未见到 查不出 查不到 查询不到 检索不到 毫无印象 毫无头绪 毫无所知 没印象
        没发现 没听懂 没听说 没头绪 没弄懂 没弄明白 没思路 没找到 没找着 没把握 没掌握 没搜到 没搜着 没数 没明白
        没有印象 没有发现 没有头绪 没有思路 没有找到 没有把握 没有掌握 没有搜到 没有查到 没有检索到 没有看到
        没有答案 没有线索 没有见到 没查到 没查着 没查询到 没检索到 没概念 没法说 没看到 没看懂 没答案 没线索 没翻到
        没能找到 没能查明 没见到 没谱 没门路 看不出 看不到 确定不了 答不上来 答不了 答不出 答不出来 翻不到 讲不清
        说不上 说不上来 说不准 说不出 说不好 说不清 避而不谈 闻所未闻 难以判断 难以断定 难以确定
    """,
    "idiom": """
        a_clue a_mystery above_my_pay_grade any_idea anyone's_guess at_a_loss baffl* ball_park be_invented be_inventing
        bearing_on beat_me beats_me black_box blank_on blind_spot blindfold* came_away came_up_empty can't_help cloudy
        clueless
        come_up_empty comes_up_empty conjecture* crystal_ball dead_end draw_a_blank draw_blank drawing_a_blank
        drawn_a_blank draws_a_blank drew_a_blank dunno elude* eludes empty-handed end_before ends_before escape_me
        escapes_me fabricat* faintest fishing_in_the_dark flummox* foggiest goes_cold gone_cold guess guess_as_good
        guessing guesswork half_answer haven't_the hazard hazarding hit_a_wall hunch in_the_dark invent
        keep_quiet keeps_quiet leave_it_at_that leave_it_there leave_that leave_this leave_this_blank
        leaving_this_blank make_anything_up make_it_up make_something_up making_it_up making_things_up making_up
        mislead_you mystif* no_bearing no_clue no_comment no_dice no_hits no_idea no_joy no_luck no_telling no_use
        no_way_of_knowing none_the_wiser nothing_doing of_little_help of_little_use of_no_use out_of_luck
        out_of_my_depth over_my_head pass_on pay_grade perplex* pluck pure_guess puzzled puzzling run_dry
        runs_dry search_me shot_in_the_dark slightest speculat* speculative stab stop_before stops_at stops_before
        stumped
        stumps the_dark thin_air tough_one trail_off trails_off tricky_one unfounded useless who_can_say who_knows
        whole_cloth wide_of wild_guess wiser your_guess 一头雾水 一无所知 一片茫然 不会这 不可用 不对口 不搭界
        不沾边 不相关 不相干 不着边 不着边际 不知所云 两眼一抹黑 两码事 为难 乱猜 乱答 乱编 乱蒙 乱讲 乱说 云里雾里
        人工客服 信口开河 信口雌黄 凭空 凭空想象 凭空捏造 卡住 卡壳 哑口无言 妄下 妄加 妄断 妄测 妄言 妄议 妄语
        对不上 对不上号 对不上题 抓瞎 揣度 揣测 摸不着 摸不着头脑 断了线 无关 无凭无据 无涉 无计可施 有心无力 杜撰
        歇菜 死胡同 毫不相干 毫无关系 没关系 没头没脑 没戏 没有关系 没沾边 没用 没辙 派不上用场 牛头不对马嘴 牵强
        猜谜 用不上 盲区 真不会 瞎猜 瞎答 瞎编 瞎蒙 瞎讲 瞎说 空口 空着 答非所问 编造 考住 考倒 胡乱 胡编 胡诌 胡说
        脑袋空空 臆断 臆测 蒙一个 虚构 触及不到 误导 谜 超出了我的能力 超出我 超出能力 超纲 转人工 转接人工 问住
        问倒 难住 难倒我 风马牛 风马牛不相及
    """,
    "scope": """
        as_far_as before_that beyond confined cut-off cutoff domains elsewhere end_at end_in end_with ends_at
        ends_in ends_with exceed exceeds exclusively fields_of focus focused_on focuses_on further_than geared_to
        go_no_further irrelevant just limited_to merely not_my off-topic only only_as_far out_of_bounds out_of_range
        out_of_reach out_of_scope outside outside_of predate* restricted scope solely stop_at stop_short stopping
        stops stops_short tailored unrelated within_my 不匹配 不在 不属于 不归我 不归我们 不擅长 不相符 专做 专注
        专管 专门 为止 主要 之外 仅 仅仅 仅到 仅涉及 仅涵盖 仅能 仅覆盖 仅针对 仅限 以外 到头 到此 只 只到 只收录
        只是 只涉及 只涵盖 只管 只能 只覆盖 只讲 只谈 只负责 只针对 只限 唯独 尽是 属于 截止 截至 截至目前 早于 晚于
        权限 权限外 止于 特定领域 范围之外 范围以外 范围内 范围外 超出 超过 限于 限制 限定
    """,
    "secret": """
        classified confidential confidentiality data_protection off_limits privacy private privileged secret
        sensitive under_wraps 个人隐私 保密 保密信息 内部信息 商业机密 商业秘密 国家秘密 敏感 机密 涉密 隐私
    """,
    "domain": """
        another_department another_team area area_of competence competency department departments
        different_department discipline domain expertise field jurisdiction line_of_work my_area my_field my_job
        my_line purview remit responsibilities responsibility role speciali* specialty sphere territory wheelhouse
        专业 专业领域 专长 业务 业务范围 其他部门 别的部门 另一个部门 另一部门 归我们管 归我管 擅长 收录范围
        服务范围 本职 权责 权限范围 知识范围 管辖 管辖范围 职能 职责 职责范围 能力范围 范围 领域
    """,
    # What a speaker does with knowledge, and material with facts.
    "know": """
        account_for ascertain assess aware calculate certain check claim come_across conclude concluded confirm
        confirmed confirming corroborate decide deciding decipher deduce derive determine determined diagnose dig_up
        discern disclose discover discovered distinguish establish established estimate estimated evaluate
        extrapolate fathom figure_out find found gather gauge get_at glean gleaned guarantee identified identify
        identifying infer inferred judge know learn learned locate located look_up make_out make_sense pick_out
        piece_together pin_down pin_point pinpoint predict prove provide_an pull_up put_a_date reach_a_conclusion
        read_off read_out recall reconstruct resolve rule_on say_for_sure see settle sort_out spot substantiate sure
        tell_apart tell_from tell_whether tell_you trace trace_back track turn_up turned_up understand unearth
        verified verify vouch work_out work_that_out 下判断 下定论 下结论 了解 了解到 估出 估算 估计 作出判断 作判断
        判别 判定 判断 判明 印证 发现 否认 回忆 定位 定夺 弄明白 弄清 弄清楚 归纳 得出 得到 得知 找到 推出 推定 推导
        推想 推断 推测 推测出 推知 推算 搜 搜到 搞清 搞清楚 敲定 断定 断言 明了 明白 查到 查实 查找 查明 查清 查证
        核实 核查 检索到 求证 清楚 猜 猜测 理清 甄别 看出 看到 看懂 看清 看见 知悉 知情 知晓 知道 确定 确知 确认
        确证 答出 算出 考证 获取 获悉 获知 见到 解答出 解读 计算 认出 认定 证实 评估 评判 说准 辨别 辨明 辨清 辨认
        追查 追踪 透彻 鉴别 鉴定 预测 预知 验证
    """,
    "answer": """
        answer* replies reply reply_to respond_to responding responses solution* 交差 作出回答 作出答复 作回应 作答
        作答复 回复 回复您 回应 回答 回答您 回话 奉告 应答 答 答上来 答复 答案 答题 置评 解惑 解答 释疑
    """,
    "help": """
        advice advise advising assist assistance be_of_assistance comment comply diagnosis discuss fulfil* give_you
        handle handled help helpful oblige opinion prescribe process recommend* recommendation* respond satisf*
        serve service share speak talk_about tell translate walk_you 代为 代办 代劳 公开 出主意 分享 判断给 办 办理
        医疗建议 协办 协助 参谋 受理 告知 咨询意见 处理 完成 帮 帮上 帮你 帮到 帮助 帮您 建言 投资建议 拿主意 指导
        指点 提供建议 援助 效劳 服务 法律意见 满足 满足您 理财建议 给你 给出建议 给建议 给您 给意见 解决 解决问题
        解忧 评价 评论 评说 诊断
    """,
    "say": """
        acknowledg* add address address_directly addressed addresses adds allude* announce* appear appears assign*
        attribute* break_down break_out breaks_down bring_up brings_up broach* broken_down cite cited cites clarif*
        come_up comes_up comment_on comments_on concern* convey* crop_up cut_across date_given define defined
        defines definition deliver* delve* depict* describe described describes detail detail_ed detailed details_of
        determine_by devote* differentiate* disclose* discussed discusses distinguish* divulge* document_ed
        documented draw_out dwell* elaborate* elaborates enlarge* enlighten* enter_into enumerat* expand* explain
        explain_why explained explains explore* expose* extend* fill_in find_its_way flag* flesh_out furnish*
        get_into get_round_to gets_into give give_away given_away gives giving go_as_far go_back go_into go_on_to
        go_unmentioned goes goes_as goes_as_far goes_back goes_into grapple* highlight* hint* illuminat* impl*
        indicate indicated indicates introduce* itemi* keep_track lay_down lay_out lays_out let_on lets_on listed
        make_clear make_reference makes_mention makes_reference mention mentioned mentioning name named names
        narrat* note noted occur* offer_up outline* pick_up point_out point_to points_to portray* post posted
        present print printed prints pronounce* pronounces published put_a_figure put_down put_forward put_in quote*
        quoted reach reached reaches reads record recorded recount* refer referred refers reflect* regulat* relate*
        relay* report_on reproduc* resolves respond_on reveal* rule_out said say says separate_out set_out sets_out
        settles shed sheds show shows single_out singles_out speaks specified specifies specify spell spell* spelled
        spells spells_out spelt state state_clearly stated states stipulat* suggest* summar* tackle* take_up
        takes_up talk talks talks_about tell_us tells tells_me tells_us touch touch_on touched touches touching
        treat treated treats turn_to uncover* voice weigh_in write* written wrote yield* 下过 不涉及 交代 交代清楚
        交代过 交待 介绍 介绍到 体现 体现出 作了说明 作出 作区分 作答过 作规定 作过 做出 公布 公开过 公示过 关注 写
        写上 写下 写出 写出来 写到 写到过 写及 写得 写明 写有 写清 写清楚 写着 写过 写进 出现 分列 刊登 刊载 划分 列
        列举 列出 列出来 列明 列示 区分 单列 印 印有 反映 反映出 发布过 叙及 叙述 告诉 告诉我们 回答到 定过 展开
        展开讲 展开说 延伸 延伸到 引用 引述 归入 归类 归纳出 报价 披露 拆分 拆开 指出 指向 指定 指明 描写 描绘 提
        提出 提出过 提到 提到过 提及 提及过 提示 提示过 提起 提过 揭示 收集 明文 明文规定 明确 明确写 明确提
        明确规定 明确说明 明示 明说 显示 标 标上 标价 标出 标明 标有 标注出 标着 标示 标识 概述 注 注明 涉及 涉猎
        涉猎到 涉足 深入 点明 牵涉 牵涉到 界定 留 留下 登 登出 登记 登载 约定 组织 细分 细讲 细说 给 给个 给出 给过
        统计 罗列 表态 表明 表示 表述 覆盖到 规定 触及 触碰 言及 言明 讨论 记 记下 记下来 记录下 记录过 记明 记有
        记载 记过 记述 讲 讲出 讲出来 讲到 讲到过 讲得 讲明 讲明白 讲清 讲清楚 讲解 讲过 讲述 论到 论及 论述 评述
        询问到 详细说明 详述 说 说出 说到 说到过 说得 说明 说清 说清楚 说起 说起过 说过 说道 谈 谈到 谈到过 谈及
        谈及过 谈论 谈起 谈过 载 载入 载明 载有 过问 述及 透露 透露出 透露过 道出 道及 道明 释义 问到 阐述 附上 陈述
        预告
    """,
    "hold": """
        applies_to apply_to carries carry cater* comprise* consist* contain contained containing contains cover
        covered covering covers deal deals enclose* extend extended extends feature features hold holds include
        included includes including list lists offer offers provide provided_for provides supplies supply 列入 包含
        包括 包括进 含 含有 囊括 带有 录入 提供 提供出 提供过 支持 收入 收录 收进 涵括 涵盖 纳入 覆盖 适用 适用于 附
        附带 附有
    """,
    "looked": """
        after_reading all_the_way_through browsed checked checked_through checking combed combing consulted
        cross-checked dug end_to_end everywhere examined from_beginning_to_end from_start_to_finish go_through
        going_through gone_over gone_through hunted inspected leafed looked looking pored read read_through reading
        reviewed scan_through scanned scoured scouring searched searching sifted studied top_to_bottom twice
        went_looking went_over went_through 一圈 一遍 三遍 两遍 从头到尾 从头看到尾 从头至尾 仔细 仔细看 全部看过
        几遍 前前后后 反复 反复查 对照了 找了 找半天 找过 找遍 搜了 搜了一圈 搜寻 搜索了 搜过 查了 查了半天 查看了
        查询了 查过 查遍 查阅 核对了 核查了 检查了 检查过 检索了 比对了 浏览 看了 看完 看过 研究了 细看 翻了
        翻了个遍 翻了半天 翻来覆去 翻看 翻过 翻遍 翻阅 读了 读完 读过 过了一遍 过目 逐一 逐字 逐条 逐页 通篇 通读
        都查了 都看了 里里外外 问过 问遍
    """,
    "able": """
        able able_to allow allowed allows authorised authorized can capable could enabled entitled in_a_position let
        lets permit permits permitted possible qualified way would would_let 供 允许 可 可以 可供 得了 得以 方能
        有办法 有权 有能力 能 能以 能够 让 足以
    """,
    "need": """
        before_i depend depending depends have_to hinge* in_order_to necessary need needed needs once_i once_you
        prerequisite require required requires subject_to unless_you until_i until_you will_have_to would_have_to
        would_need would_require would_take 以便 先得 先看 先看到 先知道 先要 前提 取决于 待 得先 得去 得找 得有
        得由 得看 得等 得问 必须先 才可 才好 才能 才能回答 才行 有了 有待 知道了我才 等 等待 要先 要看 视乎 除非 需
        需要 须先
    """,
    # Manners around a refusal.
    "sorry": """
        afraid alas apolog* apology ashamed disappoint* forgive hate_to i'm_afraid i_fear i_wish pardon pity regret*
        regrettabl* sadly shame sorry too_bad unfortunately wish wish_i would_like_to would_love_to 万分抱歉 不凑巧
        不好意思 不巧 体谅 包涵 可惜 多包涵 失望 实在抱歉 对不住 对不起 很惭愧 很遗憾 恐怕 恳请谅解 惭愧 愧疚 抱歉
        敬请谅解 无奈 歉意 没帮上 没帮到 海涵 深表歉意 真不巧 见谅 让你失望 让您失望 让您白跑 请包涵 请原谅 请见谅
        请谅解 谅解 遗憾 难为情
    """,
    "redirect": """
        address_this_to advisable another_source appointment approach ask asking best_ask best_to better_off
        better_to bring_this_to call check_with clarify clear_up colleague* consider consult contact contacting
        could_you direct_your double-check drop_by email_us enquire escalat* feel_free follow_up forward* get_back
        get_in_touch go_to hand_over handing_over have_a_look have_a_word human_agent inquire kindly let_me_know
        look_elsewhere look_it_up look_to may_want_to might_want_to more_context more_details more_information
        pass_on_to pass_you passing please point_me pointed put_you_through raise_a_ticket raise_this reach_out
        refer_to refer_you referring rephrase ring search_online see_a see_the seek send_us speak_to speak_with
        specialist suggest support_team take_it_up take_this_up take_up_with talk_to telephone tell_me transfer try
        try_again try_asking turn_to_your visit would_you write_to you'd_have_to you_could_ask you_may_ask
        you_might_ask your_best_bet 不如 不妨 交由 人工 以官网为准 借助 再告诉您 再回复 再来 再查 再答复 再联系 再试
        再问 去查 去电 去问 发邮件 另寻 另找 另查 另行 另行咨询 另请 告知我 告诉我 咨询 咨询一下 回头 回电 垂询 容我
        就医 尽快就医 建议 打听 打电话 找专业人士 找客服 拨打 换一个 换个 换个说法 换个问法 换种说法 提交工单
        提供一下 改天 改问 明确一下 最好 查看官网 查询官网 核实后 核实后再 核对 洽 洽询 清楚后 烦请 烦请您 直接联系
        看医生 稍后 线下 联系 联系一下 联络 能否 致电 补充 补充一下 补充说明 询问 说明一下 请 请到 请向 请您 请找
        请教 请看 请联系 请问 走访 转交 转人工客服 转到 转告 转接 转给 进一步咨询 重新 重新描述 重新提问 问一下
        问一问 问问 麻烦
    """,
    # What an answer that says something has.
    "contrast": """
        albeit alternatively although anyway at_least but but_then by_contrast conversely even_so except_that
        however in_contrast in_fact instead nevertheless nonetheless notwithstanding on_the_other_hand otherwise
        rather regardless still though unlike whereas while yet 不料 不然 不过 事实上 但 但凡 但是 倒是 偏偏 即使
        即便 却 反倒 反而 另一方面 只不过 只可惜 只是说 可是 否则 实际上 尽管 然则 然而 相反 而 而是 至少 虽 虽然
        虽说 要不然
    """,
    "because": """
        as_a_result because because_of consequently due_to for_that_reason hence on_account owing_to since so
        that_is_why therefore thus which_is_why 于是 从而 以至于 以致 因 因为 因此 因而 基于此 所以 据此 故 故此
        是因为 由于 由此 缘于 这是因为 鉴于
    """,
    "rule": """
        allowed_to banned compulsory except exempt forbid forbidden forbids mandatory may must not_permitted
        obligatory optional ought prohibited prohibits required_by required_to shall should subject_to_approval
        supposed_to 一律 一概 不予受理 不予报销 不予支付 不予退款 不予退还 不享受 不享有 不保 不允许 不再 不准
        不准许 不包括 不受 不受理此 不可 不可以 不含 不得 不得擅自 不必 不承保 不报销 不支持退 不收 不用 不许 不退
        不适用 不适用于 不需要 严禁 仅可 以上的 以内 作废 依规定 免 免费 务必 只可 只有 可享 可以凭 可凭 可申请
        否则将 应在 应当 应由 应该 必要 必须 按照规定 按规定 方可 无效 无需 时请 有效期 未经同意 未经批准 未经许可
        根据规定 禁 禁止 禁用 视为 谢绝入内 逾期 限时 须 须在 须由
    """,
    "if": """
        anyone_who as_long_as assuming if in_case in_the_event provided_that should_you those_who unless until
        when_a when_an when_no when_the whenever 一旦 万一 倘若 假如 假设 凡 凡是 如有 如果 如果您 如需 当 的话 若
        要是 遇到
    """,
    "yes": """
        absolutely certainly correct definitely exactly_so indeed of_course sure_thing true yes 不实 不对 不是的
        不行 可以的 否 对的 当然 是的 有的 正是 正确 没关系的 没错 没问题 确实如此 错误
    """,
    "date": """
        april august december february friday fridays holidays january july june midnight monday mondays noon
        november october saturday saturdays september sunday sundays thursday thursdays today tomorrow tonight
        tuesday tuesdays wednesday wednesdays weekdays weekend weekends yesterday 上午 下午 中午 今天 冬天 凌晨 午夜
        周一 周三 周二 周五 周六 周四 周日 周末 夏天 夜里 工作日 当天 早上 明天 星期一 星期三 星期二 星期五 星期六
        星期四 星期日 春天 昨天 晚上 次日 秋天 节假日
    """,
    # Small words.
    "be": "am are be being is 为 是",
    "was": "been was were 当时 曾 曾经 那时",
    "have": "got had has have possess 具有 拥有 有",
    "do": "did do does",
    "will": "will 会 将",
    "there": """
        here nowhere_here seem seems there there_are there_is 其间 此处 此间 这儿 这边 这里 那儿 那边 那里
    """,
    "from": """
        according according_to as_far_as_i as_per based based_on by by_itself from given_that going_by in
        in_the_light judging judging_by on_the_basis on_the_strength per solely_from through under using with within
        within_the 上 中 仅从 仅凭 仅据 仅看 仅靠 从 从中 依 依照 光凭 光看 光靠 内 凭 凭借 凭现有 凭这 单从 单凭
        单看 只凭 只看 只靠 在 基于 就 就我 就我所 就材料 就此 就目前 按照 据 根据 结合 通过 里 靠
    """,
    "even": """
        altogether any anywhere at_all categorically clearly completely conclusively directly either entirely even
        exact exactly explicitly for_certain in_any_way in_detail in_particular in_the_least just_yet outright
        precisely properly quite really reliably responsibly simply so_far specific specifically truly whatsoever
        with_any_certainty with_certainty 一点 一直 丝毫 丝毫没 也 仍 仍然 任何一处 任何地方 任意 全然 准确 几乎
        切实 到处 压根 哪怕 均 坦率地说 坦白说 始终 完全 完整地 实 实在 实话说 并 并且 当真 彻底 总体 恰好 恰恰 所有
        明确地 暂时 极 根本 清楚地 的确 直接 真 真的 确切 确实 统统 老实 老实说 至今 说实话 还是 通通 都
    """,
    # Words that only look as if one of the above were inside.
    "other": """
        bookcase data_limit file_size information_desk information_rights letterbox materially no_doubt no_problem
        not_only note_that nothing_but page_boy paper_cup paper_towel please_note press_conference report_card
        search_party source_code table_tennis text_message text_messages 一向 一时 一部分 上午场 上周 上学 上市 上报
        上月 上海 上班 上级 上诉 上课 上车 上门 上限 下列 下载 不一 不下 不久 不仅 不仅仅 不但 不便之处 不分 不动产
        不同 不少 不料到 不断 不曾想 不朽 不止 不等 不管 不良 不论 不足之处 不过分 不锈 不锈钢 不错 中医 中国 中央
        中学 中心 中期 中标 中间 临时 为主 为期 主办 举办 也许 也门 事先 产品线 亲属 人为 人数 从业 从事 他人 以上海
        以为 优先 会合 会员卡 会场 会堂 会展 会所 会见 会计 会议 会诊 会话 会谈 会费 会长 会面 作业 作为 作品 作物
        作用 作者群 例如 供应 供暖 供水 供电 依次 依法 依然 依赖 保险箱 信仰 信任 信号 信托 信用 信用卡 信箱 倾向
        先后 先生 先进 免疫 免除 公共服务 公园里 公里 其他 其它 内存 内容丰富 内部 再会 准时 凭证号 分数 创作 制作
        办公 办公室 办理处 动作 北极 协会 南极 占据 原先 参数 及时 反应 受害者 可乐 可怕 可惜的 可持续 可爱 可能性
        可行 可靠性 合作 合并 吉他 同时 向导 向日葵 向来 含义 含泪 含税 含量 听说过他 周转 响应 商标 因为何 因素
        国内 图书馆 多数 大会 大部分 天数 天空 太空 如下 如今 如何是好 如此 委员 室内 家属楼 对待 小时 小说家 少数
        就业 就寝 就诊 属性 工会 工作 平凡 平时 平等 年会 并列 并购 应对 应用于 开会 归功 归来 归档 归还 当事 当地
        当时间 当选 录取 录用 录音 待遇 微信 必要性 总数 成为 成都 手段 投标 担当 招待 招标 指数 指标 按时 据点 提交
        提供商 提前 提升 提取 提款 提高 操作 支持者 收据 效应 教会 数万 数十 数千 数学 数据线 数百 数量 文凭 方向
        旋转 无人机 无偿 无名 无害 无数 无比 无烟 无线 无线电 无罪 无薪 无论 无论如何 无限 无限期 无障碍 时代 时候
        时期 时间 晚会 暂时性 服务台 服务费 未休 未婚 未成年 未来 未遂 机会 极端 标准 标志 标本 标签 概要 次数 死因
        段时 段时间 比如 没收 没落 注册 注射 注意 犹如 现象 电信 登山 登录 登机 登陆 目标 目的 直属 相信 相应 相当
        看法 短信验证码 社会 票据法 积极 空军 空气 空腹 空调 空间 等于 等候 等级 给予 给付 者 聚会 航空 行为 要求
        要点 认为 认可 记者会 讲师 讲座 许可 许可证 证据法 诗人 诚信 说服 走向 路段 转世 转发 转折 转换 转正 转租
        转让 转账 载客 载重 通信 避免 部分 都会 都市 里程 里程碑 重要 金属 阶段 附加费 附近 难免 需求量 非但 非凡
        非常 非法 页数 首先 首都 高等
    """,
}

DECLINING = frozenset(
    {
        "not",
        "none",
        "nobody",
        "lack",
        "unknown",
        "cannot",
        "not_know",
        "idiom",
        "scope",
        "secret",
        "redirect",
        "need",
        "?",
    }
)
"""Without a word of one of these classes nothing is a refusal."""
